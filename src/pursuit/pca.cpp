#include "pursuit/pursuit/pca.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>

#include "linalg/blas.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

ExplainedVariance explained_variance(const DataMatrix& A, const Matrix& loadings) {
  const double total = A.squared_norm();
  if (total == 0 || loadings.cols() == 0) return {0, 0};
  // A rank-revealing basis: loadings may be dependent, and a noise direction would count as explained.
  const Eigen::ColPivHouseholderQR<Matrix> qr(loadings);
  const Matrix basis = qr.householderQ() * Matrix::Identity(loadings.rows(), qr.rank());
  Matrix scores;
  A.apply(loadings, scores);
  const double plain = scores.squaredNorm() / total;
  A.apply(basis, scores);
  return {plain, scores.squaredNorm() / total};
}

PcaResult pca(const DataMatrixPtr& data, const PcaOptions& options) {
  const Index most = std::min(data->rows() - 1, data->cols());
  if (options.components < 1 || options.components > most)
    throw InvalidArgument(
        fmt::format("components {}: {} samples of {} variables have at least 1 and at most {} components",
                    options.components, data->rows(), data->cols(), most));
  const DataMatrixPtr A = centered(data);
  if (!(A->squared_norm() > 0))
    throw InvalidInput("every column of the data is constant: there is no variance to explain");
  FactorOptions factor_options = options.factor;
  factor_options.rank = options.components;
  factor_options.left = sphere();
  factor_options.right = options.atoms;
  factor_options.weights = WeightRule::free;

  PcaResult result;
  result.means = data->column_means();
  result.factorization = factor(A, factor_options);
  result.loadings = result.factorization.model.right;
  Matrix projections;
  A->apply(result.loadings, projections);
  result.scores =
      gram_of(result.loadings).completeOrthogonalDecomposition().solve(projections.transpose()).transpose();
  const auto explained = explained_variance(*A, result.loadings);
  result.explained_plain = explained.plain;
  result.explained_span = explained.span;
  return result;
}

}  // namespace pursuit
