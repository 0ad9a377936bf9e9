#pragma once
// The structure of a factor: a compact set A of vectors, known by two oracles.
//
//   maximize(g)        argmax over u in A of <u, g>                      the LMO of the paper, for power
//   steps fit(a, b, sign)    argmin over x = t u, u in A, of sum_i a_i x_i^2 - 2 b_i x_i     for corrections
//
// With the other factor fixed, the best factor of a squared error separates into one parabola per entry, and
// `fit` is that problem. For equal a_i it is `maximize` along b (and along -b, where t may be negative and A
// is not symmetric). Ties are broken towards the lowest index, so that a result depends on its input alone.

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pursuit/atoms/traits.hpp"

namespace pursuit {

/// Which signs a weight, or the scale of a fit, may take.
enum class Sign { free, nonnegative };

class AtomSet;
class ConeSet;
using AtomSetPtr = std::shared_ptr<const AtomSet>;

class AtomSet {
 public:
  virtual ~AtomSet() = default;

  /// u = argmax over A of <u, g>. Any g is allowed, zero included; NaN and infinite entries, vectors without
  /// entries and vectors of different lengths throw InvalidArgument, here and below.
  void maximize(ConstVectorRef g, VectorRef u) const;

  /// x = t u minimising sum a_i x_i^2 - 2 b_i x_i over u in A and t (t >= 0 for Sign::nonnegative); returns
  /// t. Needs a_i >= 0, and b_i = 0 wherever a_i = 0.
  double fit(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const;

  /// The same with every a_i = curvature > 0.
  double fit(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const;

  /// Whether u is a member; `tolerance` forgives rounding in its norm, never a non-zero or a sign.
  virtual bool contains(ConstVectorRef u, double tolerance = 1e-9) const = 0;

  /// The text that parse_atoms() turns back into this set; it begins with "custom:" where no text can.
  virtual std::string spec() const = 0;

  const AtomTraits& traits() const { return traits_; }

  /// The constraints that make this set out of all unit vectors; nothing where it is more than that.
  virtual std::optional<Constraints> constraints() const { return std::nullopt; }

  /// The members that keep the constraint; empty where no exact oracles are known for them.
  virtual AtomSetPtr narrowed(const Constraint&) const { return nullptr; }
  AtomSetPtr nonnegative() const { return narrowed(Nonnegativity{}); }
  AtomSetPtr within(Mask mask) const { return narrowed(std::move(mask)); }

  /// The set as unit vectors of a cone, where it is known by the projection onto that.
  virtual const ConeSet* cone() const { return nullptr; }

  /// Throws InvalidArgument where the set makes no sense for vectors of n entries.
  virtual void require_dimension(Index n) const;

 protected:
  /// Who refuses entries that are not finite: the functions above, or those below on a pass that they make
  /// anyway.
  enum class Finiteness { checked, left_to_oracles };
  explicit AtomSet(const AtomTraits& traits, Finiteness finiteness = Finiteness::checked)
      : traits_(traits), finiteness_(finiteness) {}

  /// Throws InvalidArgument naming the first entry that is not finite; only to be called where there is one.
  [[noreturn]] void refuse_not_finite(ConstVectorRef x) const;

 private:
  virtual void maximize_impl(ConstVectorRef g, VectorRef u) const = 0;
  /// Default: exact for sets of unit vectors.
  virtual double fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const;
  /// Default: majorise the parabolas by their steepest curvature and repeat; inexact, but never worse than
  /// its start.
  virtual double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const;

  AtomTraits traits_;
  Finiteness finiteness_;
};

/// The structure of factors: one set, or one for every atom. A value; copies share the sets.
class Atoms {
 public:
  /// InvalidArgument where there is no set.
  template <std::derived_from<AtomSet> Set>
  Atoms(std::shared_ptr<Set> set) : Atoms(std::vector<AtomSetPtr>{std::move(set)}) {}

  /// The set of the atom with this number, counted from 0. The last of a list serves all further atoms.
  const AtomSet& of(Index atom) const { return *shared(atom); }
  const AtomSetPtr& shared(Index atom) const {
    return sets_[std::size_t(std::min(atom, Index(sets_.size()) - 1))];
  }
  bool varies() const { return sets_.size() > 1; }

  /// The only set; InvalidArgument where every atom has its own.
  const AtomSet& operator*() const;
  const AtomSet* operator->() const { return &**this; }

  /// What is true of every set, and promised by each.
  const AtomTraits& traits() const { return traits_; }
  /// Whether u is a member of one of the sets.
  bool contains(ConstVectorRef u, double tolerance = 1e-9) const;
  /// The text that parse_atoms() turns back into these sets; it begins with "custom:" where no text can.
  std::string spec() const;
  /// Throws InvalidArgument where a set makes no sense for vectors of n entries.
  void require_dimension(Index n) const;

 private:
  friend Atoms per_atom(const std::vector<Atoms>& sets);
  friend Atoms operator+(const Atoms& a, const Atoms& b);
  explicit Atoms(std::vector<AtomSetPtr> sets);

  std::vector<AtomSetPtr> sets_;
  AtomTraits traits_;
};

/// All vectors of unit 2-norm.
Atoms sphere();
/// Unit vectors with at most k non-zeros.
Atoms sparse(Index k);
/// Unit vectors with at most a `fraction` of their entries non-zero (at least one entry).
Atoms sparse_fraction(double fraction);
/// Unit vectors without a negative entry.
Atoms nonneg();
/// Vectors that are in both sets, atom by atom, where these have exact oracles; InvalidArgument otherwise.
Atoms operator+(const Atoms& a, const Atoms& b);

/// Every atom has its own set: the first sets[0], the second sets[1], ..., the last one serving all further
/// atoms.
Atoms per_atom(const std::vector<Atoms>& sets);

/// A user's own set of unit vectors, symmetric or not, from one function: g -> argmax over the set of <u, g>.
/// `contains` defaults to "unit norm, and no u' from the oracle does better along u".
struct CustomSet {
  std::string name;
  std::function<Vector(ConstVectorRef g)> maximize;
  std::function<bool(ConstVectorRef u, double tolerance)> contains = {};
  bool symmetric = false;
  std::string spec = {};  // where a text can stand for it; "custom:" and the name otherwise
};
Atoms custom(CustomSet definition);

}  // namespace pursuit
