#include "linalg/cholesky.hpp"

#include <Eigen/LU>
#include <cmath>

namespace pursuit {

Cholesky::Cholesky(const ConstMatrixRef& C) : factor_(C) {}

double Cholesky::reciprocal_condition() const {
  return factor_.rcond();
}

Matrix Cholesky::upper() const {
  return factor_.matrixU();
}

Matrix Cholesky::solve(const ConstMatrixRef& B) const {
  return factor_.solve(B);
}

Vector solve_square(const ConstMatrixRef& C, ConstVectorRef b) {
  return C.fullPivLu().solve(b);
}

bool IncrementalCholesky::append(ConstVectorRef g, double d, double tolerance) {
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

void IncrementalCholesky::solve_in_place(VectorRef b) const {
  const auto lower = factor_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>();
  lower.solveInPlace(b);
  lower.transpose().solveInPlace(b);
}

}  // namespace pursuit
