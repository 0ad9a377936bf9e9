#include "pursuit/algorithms/explained_variance.hpp"

namespace pursuit {
namespace {

/// Orthonormal in order. A column in the span of those before it becomes zero: the direction that rounding
/// leaves of it would count as explained.
Matrix basis_in_order(const Matrix& columns) {
  constexpr double kDependent = 1e-8;
  Matrix basis = Matrix::Zero(columns.rows(), columns.cols());
  for (Index k = 0; k < columns.cols(); ++k) {
    Vector rest = columns.col(k);
    for (int pass = 0; pass < 2; ++pass)  // once is not enough where columns are nearly dependent
      rest -= basis.leftCols(k) * (basis.leftCols(k).transpose() * rest);
    if (const double length = rest.norm(); length > kDependent * columns.col(k).norm())
      basis.col(k) = rest / length;
  }
  return basis;
}

}  // namespace

ExplainedVariance explained_variance(const std::function<Vector(const Matrix&)>& variances, double trace,
                                     const Matrix& loadings) {
  if (!(trace > 0) || loadings.cols() == 0) return {0, 0, Vector::Zero(loadings.cols())};
  ExplainedVariance result{variances(loadings).sum() / trace, 0, variances(basis_in_order(loadings)) / trace};
  result.span = result.shares.sum();
  return result;
}

ExplainedVariance explained_variance(const DataMatrix& A, const Matrix& loadings) {
  const auto variances = [&](const Matrix& U) {
    Matrix scores;
    A.apply(U, scores);
    return Vector(scores.colwise().squaredNorm().transpose());
  };
  return explained_variance(variances, A.squared_norm(), loadings);
}

}  // namespace pursuit
