#pragma once
// Everything that weights need to know of a Hilbert space is a small quadratic,
//
//   f(alpha) = 1/2 ||y - sum_i alpha_i z_i||^2 = f(0) - c^T alpha + 1/2 alpha^T G alpha,
//   G_ij = <z_i, z_j>,  c_i = <z_i, y>.

#include <memory>

#include "pursuit/base/state_archive.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit {

class WeightSystem {
 public:
  explicit WeightSystem(WeightRule rule);
  ~WeightSystem();
  WeightSystem(WeightSystem&&) noexcept;
  WeightSystem& operator=(WeightSystem&&) noexcept;

  /// Adds atom z with its products with the older atoms, <z, z> and <z, y>; its weight is 0 until solve().
  /// Returns false, and changes nothing, where z lies in the span of the older atoms and the weights are
  /// free: their system would be singular.
  bool append(ConstVectorRef products_with_atoms, double norm_squared, double product_with_target);

  /// Replaces the atoms (after corrections) and keeps the given weights until solve().
  void reset(const Matrix& gram, const Vector& target_products, const Vector& weights);

  /// How steeply f can fall along an atom with <z, r> = value, within what the rule allows: |value| where
  /// weights may be negative, value where not, and the gap of Frank-Wolfe, max(value, 0) - <x, r> / radius,
  /// for convex weights.
  double ascent(double value) const;

  /// Line 3. The objective never rises: a solution that rounding made worse is not taken.
  void solve();

  Index size() const { return size_; }
  Vector weights() const { return weights_.head(size_); }
  double change() const { return change(weights()); }  // f(alpha) - f(0)
  const WeightRule& rule() const { return rule_; }

  /// Of so many atoms, by the same rule.
  void visit_state(StateArchive& archive, Index atoms);

 private:
  double change(const Vector& weights) const;
  Vector newest_weight() const;
  Vector economic_weights() const;
  Vector free_weights();

  struct Factor;
  WeightRule rule_;
  Index size_ = 0;
  Matrix gram_;  // leading size_ x size_ corner
  Vector targets_, weights_;
  std::unique_ptr<Factor> factor_;
};

/// argmin over alpha >= 0 (and sum alpha <= total, where total > 0) of 1/2 alpha^T G alpha - c^T alpha, from
/// a feasible start, by a primal active-set method (Lawson and Hanson 1974, on the normal equations of
/// atoms scaled to unit norm: the sizes of the atoms do not matter).
Vector constrained_weights(const Eigen::Ref<const Matrix>& gram, ConstVectorRef targets, double total,
                           ConstVectorRef start);

}  // namespace pursuit
