#pragma once
// Unit vectors with an optional family of supports and an optional sign constraint: the sphere, sparse:k,
// nonneg and nonneg+sparse:k of the paper's Table 1, and groups, trees, graphs, windows and masks.
//
// A coordinate contributes g_i^2 to <u, g>^2 when its best value is taken, so the best support is the one
// with the largest sum of these contributions: both oracles are as exact as the family's `select`, and O(n)
// beside it. Where no coordinate can contribute (every g_i <= 0 under the sign constraint) the best unit
// vector is the coordinate of the largest g_i.

#include "atoms/cone_set.hpp"
#include "atoms/supports.hpp"

namespace pursuit {

class UnitVectors final : public ConeSet {
 public:
  UnitVectors(bool nonnegative, const SupportsPtr& supports);

  bool contains(ConstVectorRef u, double tolerance) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;
  std::optional<Constraints> constraints() const override;
  AtomSetPtr narrowed(const Constraint& constraint) const override;

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override;
  void least_bad(ConstVectorRef g, VectorRef u) const override;

 private:
  UnitVectors(bool nonnegative, SupportsPtr supports, const AtomTraits& traits);
  void maximize_impl(ConstVectorRef g, VectorRef u) const override;
  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override;

  /// Below every entry, or zero.
  double floor() const;

  bool nonnegative_;
  SupportsPtr supports_;
};

}  // namespace pursuit
