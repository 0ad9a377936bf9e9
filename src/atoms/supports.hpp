#pragma once
// Families of supports: which entries of a vector may be non-zero together. With every subset of a support
// allowed, the structure of a sparse set is one question, which support has the largest sum of gains.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pursuit/base/types.hpp"

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

  /// The largest number of entries of a support.
  virtual Index max_size(Index n) const = 0;

  virtual std::string spec() const = 0;
  virtual void require_dimension(Index n) const = 0;

  /// What share of the largest sqrt(sum of gains) `select` promises; 1 where it is exact.
  virtual double factor() const { return 1; }

  /// Supports of both families; empty where their `select` would not be exact.
  virtual std::shared_ptr<const Supports> intersect(const Supports&) const { return nullptr; }
};
using SupportsPtr = std::shared_ptr<const Supports>;  // empty: every support

/// Supports of both families, or nothing where they do not go together exactly.
std::optional<SupportsPtr> common_supports(const SupportsPtr& a, const SupportsPtr& b);

/// At most so many entries: a count, or a fraction of the length (at least one entry). O(n).
class Cardinality final : public Supports {
 public:
  using Bound = std::variant<Index, double>;
  explicit Cardinality(Bound bound);

  void select(ConstVectorRef gains, Marks& kept) const override;
  bool allows(ConstVectorRef u) const override;
  Index max_size(Index n) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;
  SupportsPtr intersect(const Supports& other) const override;

  /// The count, where the bound is one.
  std::optional<Index> count() const;

 private:
  Bound bound_;
};

/// Only the entries marked by a mask; of these, a support of another family where one is given.
class Masked final : public Supports {
 public:
  Masked(Marks mask, std::string source, SupportsPtr inner = nullptr);

  void select(ConstVectorRef gains, Marks& kept) const override;
  bool allows(ConstVectorRef u) const override;
  Index best_single(ConstVectorRef g) const override;
  Index max_size(Index n) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;
  double factor() const override { return inner_ ? inner_->factor() : 1; }

  /// The same mask over what the inner family has in common with another one.
  std::optional<SupportsPtr> narrowed(const SupportsPtr& other) const;

  const Marks& mask() const { return mask_; }
  const std::string& source() const { return source_; }
  bool is_plain() const { return inner_ == nullptr; }

 private:
  Marks mask_;
  std::string source_;
  SupportsPtr inner_;
};

/// Throws InvalidArgument unless a set made for vectors of `own` entries is asked about vectors of n.
void require_length(const std::string& spec, Index own, Index n);

}  // namespace pursuit
