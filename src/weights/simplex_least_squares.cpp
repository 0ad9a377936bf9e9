#include "pursuit/weights/simplex_least_squares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/weights/weight_system.hpp"

namespace pursuit {
namespace {

constexpr Index kRowsOfShares = 64;  // to a task

bool are_shares(const Vector& x) {
  return (x.array() >= 0).all() && std::abs(x.sum() - 1) < 1e-6;
}

}  // namespace

void simplex_least_squares(const Matrix& gram, const Matrix& products, int threads, Matrix& shares) {
  const Index r = gram.rows(), n = products.rows();
  if (r < 1 || gram.cols() != r || products.cols() != r)
    throw InvalidArgument(fmt::format("shares: products with {} regressors and a {} x {} Gram matrix",
                                      products.cols(), r, gram.cols()));
  if (shares.rows() != n || shares.cols() != r) shares = Matrix::Constant(n, r, 1 / double(r));
  const Index others = r - 1;
  const Vector last = gram.col(others).head(others);
  const double square = gram(others, others);
  Matrix differences = gram.topLeftCorner(others, others);
  differences.colwise() -= last;
  differences.rowwise() -= last.transpose();
  differences.array() += square;
  parallel_for((n + kRowsOfShares - 1) / kRowsOfShares, resolve_threads(threads), [&](Index task) {
    for (Index i = task * kRowsOfShares; i < std::min(n, (task + 1) * kRowsOfShares); ++i) {
      Vector x = shares.row(i).transpose();
      if (!are_shares(x)) x.setConstant(1 / double(r));
      const Vector c = (products.row(i).head(others).array() - products(i, others)).matrix().transpose() -
                       last + Vector::Constant(others, square);
      if (others > 0) x.head(others) = constrained_weights(differences, c, 1, x.head(others));
      x[others] = std::max(0.0, 1 - x.head(others).sum());
      shares.row(i) = x.transpose();
    }
  });
}

}  // namespace pursuit
