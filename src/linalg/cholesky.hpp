#pragma once
// Definite systems of few unknowns, as inner loops solve them: by Eigen, which takes no lock and asks for no
// room, compiled in one file.

#include <Eigen/Cholesky>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// L L^T = C for a symmetric C, of which the lower triangle is read.
class Cholesky {
 public:
  explicit Cholesky(const ConstMatrixRef& C);

  /// Whether C is positive definite; nothing else may be asked where it is not, or has numbers that are not
  /// finite.
  bool definite() const {
    return factor_.info() == Eigen::Success && factor_.matrixLLT().diagonal().allFinite();
  }

  double smallest_pivot() const { return factor_.matrixLLT().diagonal().minCoeff(); }  // of L
  double reciprocal_condition() const;                                                 // an estimate
  Matrix upper() const;                                                                // L^T

  /// X with C X = B.
  Matrix solve(const ConstMatrixRef& B) const;

 private:
  Eigen::LLT<Matrix> factor_;
};

/// x with C x = b for a square C; where C is singular one of the solutions, if there is any.
Vector solve_square(const ConstMatrixRef& C, ConstVectorRef b);

/// Cholesky factor of a Gram matrix that grows by one row and column at a time: O(r^2) per step.
class IncrementalCholesky {
 public:
  Index size() const { return size_; }

  /// Factors [[G, g], [g^T, d]]. Returns false, and changes nothing, where the new vector is within rounding
  /// of the span of the old ones: less than `tolerance` of its squared length d is outside it.
  bool append(ConstVectorRef g, double d, double tolerance);

  /// Solves G x = b.
  void solve_in_place(VectorRef b) const;

  void clear() { size_ = 0; }

 private:
  Matrix factor_;  // lower triangle of the leading size_ x size_ corner
  Index size_ = 0;
};

}  // namespace pursuit
