#pragma once
// Unit vectors with an optional bound on the number of non-zeros and an optional sign constraint: the sphere,
// sparse:k, nonneg and nonneg+sparse:k of the paper's Table 1.
//
// Both oracles are exact and O(n): a coordinate contributes g_i^2 to <u, g>^2 when its best value is taken,
// so the best support is the k largest contributions. Where no coordinate can contribute (every g_i <= 0
// under the sign constraint) the best unit vector is the coordinate of the largest g_i.

#include <optional>
#include <variant>

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

class UnitVectors final : public AtomSet {
 public:
  /// A bound on the non-zeros: a count, or a fraction of the length.
  using Cardinality = std::variant<Index, double>;

  UnitVectors(bool nonnegative, std::optional<Cardinality> cardinality);

  bool contains(ConstVectorRef u, double tolerance) const override;
  std::string spec() const override;
  bool symmetric() const override { return !nonnegative_; }
  bool coordinatewise() const override { return !cardinality_; }
  bool is_sphere() const override { return !nonnegative_ && !cardinality_; }
  void require_dimension(Index n) const override;

  /// The largest number of non-zeros of a member with n entries.
  Index max_support(Index n) const;

  /// Members of both; empty where the two bounds are of different kinds (a count and a fraction).
  std::shared_ptr<const UnitVectors> intersect(const UnitVectors& other) const;

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override;
  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override;

  bool nonnegative_;
  std::optional<Cardinality> cardinality_;
};

}  // namespace pursuit
