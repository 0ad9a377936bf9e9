#pragma once
// Families of supports: which entries of a vector may be non-zero together. With every subset of a support
// allowed, the structure of a sparse set is one question, which support has the largest sum of gains.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pursuit/atoms/traits.hpp"

namespace pursuit {

/// One mark per entry: 1 inside, 0 outside.
using Marks = std::vector<unsigned char>;

class Supports {
 public:
  virtual ~Supports() = default;

  /// Marks the support with the largest sum of gains, which are finite and not negative. Entries of gain 0
  /// may be marked or not. Ties go to the lowest indices.
  virtual void select(ConstVectorRef gains, Marks& kept) const = 0;

  /// Whether the non-zeros of u lie in a support of the family.
  virtual bool allows(ConstVectorRef u) const = 0;

  /// The entry of largest g among those that may be non-zero at all.
  virtual Index best_single(ConstVectorRef g) const;

  virtual std::string spec() const = 0;
  virtual void require_dimension(Index n) const = 0;

  /// What share of the largest sqrt(sum of gains) `select` promises; 1 where it is exact.
  virtual double factor() const { return 1; }

  /// The constraints that make the family out of all supports; nothing where it is more than that.
  virtual std::optional<Constraints> constraints() const { return std::nullopt; }

  /// The supports that keep a constraint, where the family has an exact way of its own; empty otherwise.
  virtual std::shared_ptr<const Supports> narrowed(const Constraint&) const { return nullptr; }
};
using SupportsPtr = std::shared_ptr<const Supports>;  // empty: every support

/// The supports of a family that keep a constraint, a mask going with all of them; empty where their `select`
/// would not be exact.
SupportsPtr narrowed(const SupportsPtr& family, const Constraint& constraint);

/// At most so many entries. O(n).
class Cardinality final : public Supports {
 public:
  explicit Cardinality(Sparsity sparsity);

  void select(ConstVectorRef gains, Marks& kept) const override;
  bool allows(ConstVectorRef u) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;
  std::optional<Constraints> constraints() const override { return Constraints{sparsity_}; }
  SupportsPtr narrowed(const Constraint& constraint) const override;

 private:
  Sparsity sparsity_;
};

/// Only the entries marked by a mask; of these, a support of another family where one is given.
class Masked final : public Supports {
 public:
  explicit Masked(Mask mask, SupportsPtr inner = nullptr);

  void select(ConstVectorRef gains, Marks& kept) const override;
  bool allows(ConstVectorRef u) const override;
  Index best_single(ConstVectorRef g) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;
  double factor() const override { return inner_ ? inner_->factor() : 1; }

  std::optional<Constraints> constraints() const override;
  /// The same mask over the narrowed inner family.
  SupportsPtr narrowed(const Constraint& constraint) const override;

 private:
  Mask mask_;
  SupportsPtr inner_;
};

/// "support:FILE", or "custom:support" where there is no file.
std::string spec_of_mask(const std::string& source);

/// Throws InvalidArgument unless some entry may be non-zero.
void require_entries(const std::string& spec, bool any);

/// Throws InvalidArgument unless a set made for vectors of `own` entries is asked about vectors of n.
void require_length(const std::string& spec, Index own, Index n);

}  // namespace pursuit
