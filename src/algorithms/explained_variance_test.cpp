#include "pursuit/algorithms/explained_variance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pursuit {
namespace {

const Matrix kData = (Matrix(3, 2) << 3, 0, 0, 4, 0, 0).finished();  // squares 9 and 16

TEST(ExplainedVariance, IsSharedOutInOrder) {
  const Matrix loadings = (Matrix(2, 2) << 1, std::sqrt(0.5), 0, std::sqrt(0.5)).finished();
  const ExplainedVariance explained = explained_variance(*data_matrix(kData), loadings);
  EXPECT_NEAR(explained.shares[0], 9.0 / 25, 1e-14);
  EXPECT_NEAR(explained.shares[1], 16.0 / 25, 1e-14) << "only what the first had not";
  EXPECT_NEAR(explained.span, 1, 1e-14);
  EXPECT_NEAR(explained.plain, (9 + 12.5) / 25, 1e-14);
}

TEST(ExplainedVariance, OfADependentComponentIsNothing) {
  Matrix loadings = Matrix::Zero(2, 3);
  loadings(0, 0) = 1;
  loadings.col(1) << 1, 1e-12;  // the same, but for rounding
  const ExplainedVariance explained = explained_variance(*data_matrix(kData), loadings);
  EXPECT_EQ(explained.shares[1], 0);
  EXPECT_EQ(explained.shares[2], 0) << "a zero column";
  EXPECT_NEAR(explained.span, 9.0 / 25, 1e-14);
}

TEST(ExplainedVariance, IsTheSameFromTheCovariance) {
  const Matrix C = kData.transpose() * kData, loadings = (Matrix(2, 1) << 0.6, 0.8).finished();
  const auto variances = [&](const Matrix& U) { return Vector((U.transpose() * C * U).diagonal()); };
  EXPECT_NEAR(explained_variance(variances, C.trace(), loadings).span,
              explained_variance(*data_matrix(kData), loadings).span, 1e-14);
  EXPECT_EQ(explained_variance(variances, 0, loadings).span, 0);
}

}  // namespace
}  // namespace pursuit
