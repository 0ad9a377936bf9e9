#include "pursuit/pursuit/pca.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

Matrix samples_with_offset(Index n, Index p, std::uint64_t seed) {
  Random random(seed);
  return (random.gaussian_matrix(n, 4) * random.gaussian_matrix(4, p) + 0.3 * random.gaussian_matrix(n, p))
             .array() +
         50;
}

TEST(Pca, SphereIsClassicalPca) {
  const Matrix A = samples_with_offset(40, 25, 1);
  const Matrix centred = A.rowwise() - A.colwise().mean();
  const Eigen::BDCSVD<Matrix> svd(centred, Eigen::ComputeThinV);
  const PcaResult result = pca(data_matrix(A), {.components = 3});
  const double expected = svd.singularValues().head(3).squaredNorm() / centred.squaredNorm();
  EXPECT_NEAR(result.explained_span, expected, 1e-10);
  EXPECT_NEAR(result.explained_plain, expected, 1e-10);
  for (Index i = 0; i < 3; ++i)
    EXPECT_NEAR(std::abs(result.loadings.col(i).dot(svd.matrixV().col(i))), 1, 1e-8);
  EXPECT_LT((result.means.transpose() - A.colwise().mean()).norm(), 1e-10);
  EXPECT_LT((result.scores - centred * result.loadings).norm(), 1e-8);
}

TEST(Pca, SparseLoadingsKeepTheirBoundAndStayBelowPca) {
  const Matrix A = samples_with_offset(60, 40, 2);
  const double bound = pca(data_matrix(A), {.components = 4}).explained_span;
  for (const char* spec : {"sparse:8", "nonneg+sparse:8", "nonneg"}) {
    const Atoms atoms = parse_atoms(spec);
    const PcaResult result = pca(data_matrix(A), {.components = 4, .atoms = atoms});
    EXPECT_LE(result.explained_span, bound + 1e-12) << spec;
    EXPECT_GT(result.explained_span, 0.5 * bound) << spec;
    for (Index i = 0; i < result.loadings.cols(); ++i)
      EXPECT_TRUE(atoms->contains(result.loadings.col(i))) << spec;
  }
}

TEST(ExplainedVariance, SpanCountsOverlapOnceAndPlainTwice) {
  Random random(3);
  const Matrix A = random.gaussian_matrix(30, 6);
  const auto data = data_matrix(A);
  Matrix twice(6, 2);
  twice.col(0) = twice.col(1) = Vector::Unit(6, 2);
  const auto once = explained_variance(*data, twice.leftCols(1)), both = explained_variance(*data, twice);
  EXPECT_NEAR(both.span, once.span, 1e-12);
  EXPECT_NEAR(both.plain, 2 * once.plain, 1e-12);
  EXPECT_NEAR(explained_variance(*data, Matrix::Identity(6, 6)).span, 1, 1e-12);
}

TEST(Pca, BadInputIsNamed) {
  const Matrix A = samples_with_offset(10, 5, 4);
  EXPECT_THROW(pca(data_matrix(A), {.components = 0}), InvalidArgument);
  EXPECT_THROW(pca(data_matrix(A), {.components = 6}), InvalidArgument);
  EXPECT_THROW(pca(data_matrix(A), {.components = 2, .atoms = sparse(9)}), InvalidArgument);
  const Matrix constant = Matrix::Ones(10, 5);
  EXPECT_THROW(pca(data_matrix(constant), {.components = 2}), InvalidInput);
  const Matrix one_sample = Matrix::Ones(1, 5);
  EXPECT_THROW(pca(data_matrix(one_sample), {.components = 1}), InvalidArgument);
}

}  // namespace
}  // namespace pursuit
