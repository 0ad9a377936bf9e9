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
  UnitVectors(bool nonnegative, SupportsPtr supports);

  bool contains(ConstVectorRef u, double tolerance) const override;
  std::string spec() const override;
  bool symmetric() const override { return !nonnegative_; }
  bool coordinatewise() const override { return !supports_; }
  bool is_sphere() const override { return !nonnegative_ && !supports_; }
  double oracle_factor() const override { return supports_ ? supports_->factor() : 1; }
  bool exact_fit() const override { return !supports_ || supports_->factor() == 1; }
  void require_dimension(Index n) const override;
  Atoms intersect(const AtomSet& other) const override;
  bool ignores_zeros(const Marks&) const override { return !supports_; }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override;
  void least_bad(ConstVectorRef g, VectorRef u) const override;

  /// The largest number of non-zeros of a member with n entries.
  Index max_support(Index n) const { return supports_ ? supports_->max_size(n) : n; }
  /// Where only their number is bounded, or nothing is.
  bool is_plainly_sparse() const { return plainly_sparse_; }
  const SupportsPtr& supports() const { return supports_; }

 private:
  bool checks_finiteness() const override { return plainly_sparse_; }
  void maximize_impl(ConstVectorRef g, VectorRef u) const override;
  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override;

  /// Below every entry, or zero.
  double floor() const;

  bool nonnegative_;
  SupportsPtr supports_;
  bool plainly_sparse_;
};

}  // namespace pursuit
