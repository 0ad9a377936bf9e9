#pragma once
// The structure of a factor: a compact set A of vectors, known by two oracles.
//
//   maximize(g)        argmax over u in A of <u, g>                      the LMO of the paper, for power
//   steps fit(a, b, sign)    argmin over x = t u, u in A, of sum_i a_i x_i^2 - 2 b_i x_i     for corrections
//
// With the other factor fixed, the best factor of a squared error separates into one parabola per entry, and
// `fit` is that problem. For equal a_i it is `maximize` along b (and along -b, where t may be negative and A
// is not symmetric). Ties are broken towards the lowest index, so that a result depends on its input alone.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// Which signs a weight, or the scale of a fit, may take.
enum class Sign { free, nonnegative };

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

  /// Whether u in A implies -u in A.
  virtual bool symmetric() const = 0;

  /// Whether the multiples t u, t >= 0, form a convex cone that treats every coordinate alone (all vectors,
  /// or the non-negative ones): corrections may then work on tiles of rows and extrapolate.
  virtual bool coordinatewise() const { return false; }

  /// Whether the set is every vector of unit norm: the classical SVD.
  virtual bool is_sphere() const { return false; }

  /// Whether every member has norm 1.
  virtual bool has_unit_norms() const { return true; }

  /// What share of the largest <u, g> maximize promises: 1 where it is exact, less where the problem is too
  /// hard for that, 0 where nothing is promised.
  virtual double oracle_factor() const { return 1; }

  /// Whether fit reaches the global optimum for every a; where not, it ends in a local one.
  virtual bool exact_fit() const { return false; }

  /// The set of the atom with this number, counted from 0, where every atom has its own (see per_atom).
  virtual const AtomSet& of_atom(Index) const { return *this; }
  virtual bool varies_by_atom() const { return false; }

  /// Members of both sets; empty where this set knows no exact oracles for them. Ask by a + b, which tries
  /// both sides.
  virtual std::shared_ptr<const AtomSet> intersect(const AtomSet&) const { return nullptr; }

  /// Whether a member of this set for the entries where mask is 1 stays a member, and no better one appears,
  /// when zeros are put where mask is 0.
  virtual bool ignores_zeros(const std::vector<unsigned char>&) const { return false; }

  /// Throws InvalidArgument where the set makes no sense for vectors of n entries.
  virtual void require_dimension(Index n) const;

 protected:
  /// Throws InvalidArgument naming the first entry that is not finite; only to be called where there is one.
  [[noreturn]] void refuse_not_finite(ConstVectorRef x) const;

 private:
  /// Whether the functions below refuse entries that are not finite themselves, on a pass that they make
  /// anyway.
  virtual bool checks_finiteness() const { return false; }
  virtual void maximize_impl(ConstVectorRef g, VectorRef u) const = 0;
  /// Default: exact for sets of unit vectors.
  virtual double fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const;
  /// Default: majorise the parabolas by their steepest curvature and repeat; inexact, but never worse than
  /// its start.
  virtual double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const;
};

/// A shared handle, so that sets are passed around like values.
using Atoms = std::shared_ptr<const AtomSet>;

/// All vectors of unit 2-norm.
Atoms sphere();
/// Unit vectors with at most k non-zeros.
Atoms sparse(Index k);
/// Unit vectors with at most a `fraction` of their entries non-zero (at least one entry).
Atoms sparse_fraction(double fraction);
/// Unit vectors without a negative entry.
Atoms nonneg();
/// Vectors that are in both sets, where that intersection has exact oracles; InvalidArgument otherwise.
Atoms operator+(const Atoms& a, const Atoms& b);

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
