#include "pursuit/algorithms/l1_components.hpp"

#include <cmath>

#include "linalg/decompositions.hpp"
#include "pursuit/base/error.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

Matrix data(Index n, Index p, std::uint64_t seed) {
  return gaussian(n, 3, seed) * gaussian(3, p, seed + 1) + 0.3 * gaussian(n, p, seed + 2) +
         Matrix::Constant(n, p, 2.0);
}

Matrix centred(const Matrix& X) {
  return X.rowwise() - X.colwise().mean();
}

double objective(const Matrix& X, double alpha, const L1Components& c) {
  return 0.5 * (centred(X) - c.scores * c.loadings.transpose()).squaredNorm() +
         alpha * c.loadings.cwiseAbs().sum();
}

TEST(L1Components, WithoutAPenaltyTheyArePrincipalComponents) {
  const Matrix X = data(40, 12, 1);
  const auto c = l1_components(data_matrix(X), 3, {.alpha = 0});
  const ThinSvd svd = thin_svd(centred(X));
  for (Index i = 0; i < 3; ++i)
    EXPECT_NEAR(std::abs(c.loadings.col(i).normalized().dot(svd.right.col(i))), 1, 1e-9);
}

TEST(L1Components, ObjectiveNeverRisesAndIsWhatItSays) {
  const Matrix X = data(30, 15, 2);
  for (const double alpha : {0.1, 1.0, 5.0}) {
    double last = std::numeric_limits<double>::infinity();
    for (int sweeps = 0; sweeps < 30; ++sweeps) {
      const auto c = l1_components(data_matrix(X), 4, {.alpha = alpha, .max_sweeps = sweeps, .tolerance = 0});
      EXPECT_NEAR(c.objective, objective(X, alpha, c), 1e-11 * X.squaredNorm());
      EXPECT_LE(c.objective, last * (1 + 1e-13));
      EXPECT_LE(c.scores.colwise().norm().maxCoeff(), 1 + 1e-12);
      last = c.objective;
    }
  }
}

TEST(L1Components, PayingMoreLeavesFewerLoadings) {
  const Matrix X = data(30, 15, 3);
  const auto count = [&](double alpha) {
    return (l1_components(data_matrix(X), 3, {.alpha = alpha}).loadings.array() != 0).count();
  };
  EXPECT_EQ(count(0), 45);
  EXPECT_LT(count(3), 45);
  EXPECT_LT(count(15), count(3));
  EXPECT_EQ(count(1e6), 0);
}

TEST(L1Components, MoreThanThereAreAreZero) {
  const Matrix X = data(5, 8, 4);
  const auto c = l1_components(data_matrix(X), 7, {.alpha = 0});
  EXPECT_EQ(c.loadings.cols(), 7);
  EXPECT_EQ(c.loadings.rightCols(3).norm(), 0);
  const Matrix constant = Matrix::Ones(5, 8);
  EXPECT_EQ(l1_components(data_matrix(constant), 2, {}).loadings.norm(), 0);
}

TEST(L1Components, BeginWhereTheyAreTold) {
  const Matrix X = data(20, 6, 5), U = gaussian(20, 2, 6), V = gaussian(6, 2, 7);
  const auto c = l1_components(data_matrix(X), U, V, {.alpha = 1, .max_sweeps = 0});
  EXPECT_EQ(c.loadings, V);
  EXPECT_THROW(l1_components(data_matrix(X), V, U, {}), InvalidArgument);
  EXPECT_THROW(l1_components(data_matrix(X), 2, {.alpha = -1}), InvalidArgument);
}

}  // namespace
}  // namespace pursuit
