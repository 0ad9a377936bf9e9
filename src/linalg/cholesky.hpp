#pragma once
// Cholesky factor of a Gram matrix that grows by one row and column at a time: O(r^2) per step.

#include <Eigen/Cholesky>

#include "pursuit/base/types.hpp"

namespace pursuit {

class IncrementalCholesky {
 public:
  Index size() const { return size_; }

  /// Factors [[G, g], [g^T, d]]. Returns false, and changes nothing, where the new vector is within rounding
  /// of the span of the old ones: less than `tolerance` of its squared length d is outside it.
  bool append(ConstVectorRef g, double d, double tolerance) {
    if (size_ == factor_.rows()) factor_.conservativeResize(2 * size_ + 8, 2 * size_ + 8);
    auto row = factor_.row(size_).head(size_);
    row = g.transpose();
    factor_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>().solveInPlace(row.transpose());
    const double outside = d - row.squaredNorm();
    if (!(outside > tolerance * d)) return false;
    factor_(size_, size_) = std::sqrt(outside);
    ++size_;
    return true;
  }

  /// Solves G x = b.
  void solve_in_place(VectorRef b) const {
    const auto lower = factor_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>();
    lower.solveInPlace(b);
    lower.transpose().solveInPlace(b);
  }

  void clear() { size_ = 0; }

 private:
  Matrix factor_;  // lower triangle of the leading size_ x size_ corner
  Index size_ = 0;
};

}  // namespace pursuit
