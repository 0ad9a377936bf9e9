#include "pursuit/weights/nonnegative_least_squares.hpp"

#include <rapidcheck/gtest.h>

#include "pursuit/base/error.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

/// Optimal if and only if no coordinate can be moved for the better. Products count relative to the length of
/// their regressor.
void expect_optimal(const Matrix& gram, const Matrix& products, const Matrix& solutions) {
  for (Index i = 0; i < products.rows(); ++i) {
    const Vector x = solutions.row(i).transpose();
    const Vector descent = products.row(i).transpose() - gram * x;
    const Vector norms = gram.diagonal().cwiseSqrt().cwiseMax(1e-300);
    const double largest = (products.row(i).transpose().cwiseQuotient(norms)).cwiseAbs().maxCoeff();
    for (Index k = 0; k < x.size(); ++k) {
      const double scale = largest * norms[k];
      EXPECT_GE(x[k], 0);
      EXPECT_LE(descent[k], 1e-9 * scale) << "row " << i << ", coordinate " << k;
      if (x[k] == 0) continue;
      EXPECT_GE(descent[k], -1e-9 * scale) << "row " << i << ", coordinate " << k;
    }
  }
}

TEST(NonnegativeLeastSquares, IsOptimalForEveryRow) {
  const Matrix H = gaussian(30, 12, 1), Y = gaussian(200, 30, 2);
  const Matrix gram = H.transpose() * H, products = Y * H;
  const Matrix solutions = nonnegative_least_squares(gram, products);
  EXPECT_GT((solutions.array() == 0).count(), 100) << "the constraint does not bind: nothing was tested";
  expect_optimal(gram, products, solutions);
}

TEST(NonnegativeLeastSquares, TakesDependentRegressors) {
  Matrix H = gaussian(10, 6, 3).cwiseAbs();
  H.col(5) = H.col(0);
  H.col(4).setZero();
  const Matrix gram = H.transpose() * H, products = gaussian(20, 10, 4) * H;
  expect_optimal(gram, products, nonnegative_least_squares(gram, products));
}

TEST(NonnegativeLeastSquares, ScalesOfRegressorsDoNotMatter) {
  const Matrix H = gaussian(8, 3, 11), Y = gaussian(200, 8, 12);
  const Vector scales = (Vector(3) << 1, 1e-7, 1e7).finished();
  const Matrix scaled = H * scales.asDiagonal();
  const Matrix plain = nonnegative_least_squares(H.transpose() * H, Y * H);
  const Matrix found = nonnegative_least_squares(scaled.transpose() * scaled, Y * scaled);
  EXPECT_LT(max_difference(found * scales.asDiagonal(), plain), 1e-9);
}

RC_GTEST_PROP(NonnegativeLeastSquares, IsOptimalForRegressorsOfEveryScale, ()) {
  const Index r = *rc::gen::inRange<Index>(1, 16);
  const std::uint64_t seed = *rc::gen::inRange<std::uint64_t>(0, 100000);
  Random random(seed);
  Matrix H = gaussian(20, r, seed + 1);
  if (*rc::gen::arbitrary<bool>()) H = H.cwiseAbs();  // strongly correlated
  for (Index k = 0; k < r; ++k) H.col(k) *= std::pow(10.0, 16 * random.uniform() - 8);
  const Matrix gram = H.transpose() * H, products = gaussian(10, 20, seed + 2) * H;
  expect_optimal(gram, products, nonnegative_least_squares(gram, products));
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(NonnegativeLeastSquares, EveryRowIsSolvedAloneWhateverTheThreads) {
  const Matrix H = gaussian(30, 8, 5), Y = gaussian(300, 30, 6);
  const Matrix gram = H.transpose() * H, products = Y * H;
  const Matrix all = nonnegative_least_squares(gram, products, 1);
  EXPECT_TRUE(same_bits(nonnegative_least_squares(gram, products, 4), all));
  EXPECT_TRUE(same_bits(nonnegative_least_squares(gram, products.row(123)), all.row(123)));
}

TEST(NonnegativeLeastSquares, RefusesSizesThatDoNotFit) {
  EXPECT_THROW(nonnegative_least_squares(Matrix::Identity(3, 3), Matrix::Ones(5, 2)), InvalidArgument);
}

}  // namespace
}  // namespace pursuit
