#include "pursuit/weights/nonnegative_least_squares.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.hpp"
#include "linalg/decompositions.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/weights/weight_system.hpp"

namespace pursuit {
namespace {

constexpr int kCoordinateSweeps =
    20;  // before the exact method, to which every wrong sign costs a system to solve
constexpr Index kRowsPerTask = 64;

void coordinate_sweep(const Matrix& gram, const Vector& c, Vector& x) {
  for (Index k = 0; k < x.size(); ++k)
    if (gram(k, k) > 0) x[k] = std::max(0.0, x[k] + (c[k] - gram.col(k).dot(x)) / gram(k, k));
}

}  // namespace

Matrix nonnegative_least_squares(const Matrix& gram, const Matrix& products, int threads) {
  const Index r = gram.rows(), n = products.rows();
  if (gram.cols() != r || products.cols() != r)
    throw InvalidArgument(fmt::format("least squares: products with {} regressors and a {} x {} Gram matrix",
                                      products.cols(), r, gram.cols()));
  if (n == 0 || r == 0) return Matrix::Zero(n, r);
  // Regressors of unit norm: which of them are dependent, or not worth having, must not hang on their scales.
  const Vector norms = gram.diagonal().cwiseMax(0.0).cwiseSqrt();
  const Vector inverse = (norms.array() > 0).select(norms.cwiseInverse(), 0.0);
  const Matrix scaled = inverse.asDiagonal() * gram * inverse.asDiagonal();
  const Matrix scaled_products = inverse.asDiagonal() * products.transpose();
  const Matrix free = least_squares(scaled, scaled_products);
  Matrix solutions(n, r);
  parallel_for((n + kRowsPerTask - 1) / kRowsPerTask, resolve_threads(threads), [&](Index task) {
    for (Index i = task * kRowsPerTask; i < std::min(n, (task + 1) * kRowsPerTask); ++i) {
      Vector x = free.col(i);
      if (x.minCoeff() < 0) {
        const Vector c = scaled_products.col(i);
        x = x.cwiseMax(0.0);
        for (int sweep = 0; sweep < kCoordinateSweeps; ++sweep) coordinate_sweep(scaled, c, x);
        x = constrained_weights(scaled, c, 0, x);
      }
      solutions.row(i) = x.cwiseProduct(inverse).transpose();
    }
  });
  return solutions;
}

}  // namespace pursuit
