#include "pursuit/algorithms/l1_components.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/require.hpp"
#include "linalg/lanczos.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr int kPasses = 4;  // over the columns of a side, per product with the data

/// x_i := argmin over one column of 1/2 tr(X G X^T) - tr(P^T X), then `finish`, which makes it the minimum
/// under the column's own constraint or penalty: with one curvature for all entries that is a projection or a
/// threshold.
template <class Finish>
void sweep_columns(const Matrix& P, const Matrix& G, Matrix& X, const Finish& finish) {
  for (int pass = 0; pass < kPasses; ++pass)
    for (Index i = 0; i < X.cols(); ++i) {
      if (!(G(i, i) > 0)) continue;
      const Vector step = P.col(i) - X * G.col(i);
      X.col(i) += step / G(i, i);
      finish(X.col(i), G(i, i));
    }
}

void into_unit_ball(VectorRef u, double /*curvature*/) {
  const double norm = u.norm();
  if (norm > 1) u /= norm;
}

L1Components descend(const DataMatrix& A, L1Components c, const L1ComponentOptions& options) {
  require(options.alpha >= 0 && std::isfinite(options.alpha),
          fmt::format("alpha {}: must be finite and at least 0", options.alpha));
  Matrix &U = c.scores, &V = c.loadings;
  double &objective = c.objective, &total = c.total;
  total = 0.5 * A.squared_norm();
  const auto threshold = [&](VectorRef v, double curvature) {
    const double cut = options.alpha / curvature;
    v = v.cwiseSign().cwiseProduct((v.cwiseAbs().array() - cut).max(0.0).matrix());
  };
  Matrix P, G;
  const auto products_of_scores = [&] {
    A.apply_transposed(U, P);
    G = gram_of(U);
  };
  const auto value = [&] {
    return std::max(0.0, total - P.cwiseProduct(V).sum() + 0.5 * G.cwiseProduct(gram_of(V)).sum()) +
           options.alpha * V.cwiseAbs().sum();
  };
  products_of_scores();
  objective = value();
  while (c.sweeps < options.max_sweeps && !c.converged) {
    const Matrix U_before = U, V_before = V;
    sweep_columns(P, G, V, threshold);
    A.apply(V, P);
    sweep_columns(P, gram_of(V), U, into_unit_ball);
    products_of_scores();
    const double before = objective;
    objective = value();
    ++c.sweeps;
    if (!(objective <= before)) {  // rounding: there is nothing left to gain
      U = U_before;
      V = V_before;
      objective = before;
    }
    c.converged = before - objective <= options.tolerance * before;
    if (options.keep_going && !options.keep_going(c.sweeps, objective)) break;
  }
  return c;
}

}  // namespace

L1Components l1_components(const DataMatrixPtr& data, Index components, const L1ComponentOptions& options) {
  require(components >= 1, fmt::format("components {}: must be at least 1", components));
  const DataMatrixPtr A = centered(data);
  L1Components start{Matrix::Zero(A->rows(), components), Matrix::Zero(A->cols(), components),
                     data->column_means()};
  if (A->squared_norm() > 0) {
    const SingularTriplets leading =
        truncated_svd(*A, std::min(components, std::min(A->rows() - 1, A->cols())));
    start.scores.leftCols(leading.values.size()) = leading.left;
    start.loadings.leftCols(leading.values.size()) = leading.right * leading.values.asDiagonal();
  }
  return descend(*A, std::move(start), options);
}

L1Components l1_components(const DataMatrixPtr& data, Matrix scores, Matrix loadings,
                           const L1ComponentOptions& options) {
  require(scores.rows() == data->rows() && loadings.rows() == data->cols() &&
              scores.cols() == loadings.cols() && scores.cols() >= 1,
          fmt::format("scores of {} x {} and loadings of {} x {} do not fit {} x {} data", scores.rows(),
                      scores.cols(), loadings.rows(), loadings.cols(), data->rows(), data->cols()));
  require(scores.allFinite() && loadings.allFinite(), "scores and loadings: every entry must be finite");
  return descend(*centered(data), {std::move(scores), std::move(loadings), data->column_means()}, options);
}

}  // namespace pursuit
