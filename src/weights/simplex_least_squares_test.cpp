#include "pursuit/weights/simplex_least_squares.hpp"

#include <gtest/gtest.h>

#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

TEST(SimplexLeastSquares, AreSharesThatNoOtherSharesBeat) {
  for (const double scale : {1e-6, 1.0, 1e9}) {
    Random random(3);
    const Index p = 12, r = 5, n = 40;
    const Matrix H = scale * random.gaussian_matrix(p, r), Y = 2 * scale * random.gaussian_matrix(n, p);
    const Matrix gram = H.transpose() * H, products = Y * H;
    Matrix shares;
    simplex_least_squares(gram, products, 1, shares);
    ASSERT_EQ(shares.rows(), n);
    ASSERT_GE(shares.minCoeff(), 0);
    EXPECT_LT((shares.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
    EXPECT_GT((shares.array() == 0).count(), n) << "bounds should matter here";
    for (Index i = 0; i < n; ++i) {
      const Vector c = products.row(i).transpose(), x = shares.row(i).transpose();
      // At a minimum the slope is the same along all parts that are there, and no smaller along others.
      const Vector slope = gram * x - c;
      const double least = slope.minCoeff();
      for (Index k = 0; k < r; ++k) {
        if (x[k] <= 1e-9) continue;
        EXPECT_NEAR(slope[k], least, 1e-8 * c.norm() + 1e-8 * gram.norm()) << scale;
      }
    }
  }
}

TEST(SimplexLeastSquares, GiveBackTheSharesOfMixtures) {
  Random random(1);
  const Matrix H = random.gaussian_matrix(9, 3);
  Matrix truth = random.gaussian_matrix(20, 3).cwiseAbs();
  truth = (truth.array().colwise() / truth.rowwise().sum().array()).eval();
  Matrix shares = Matrix::Constant(20, 3, -7);  // no shares: a start in the middle
  simplex_least_squares(H.transpose() * H, truth * H.transpose() * H, 2, shares);
  EXPECT_LT((shares - truth).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(SimplexLeastSquares, OnePartIsTheWhole) {
  Matrix shares;
  simplex_least_squares(Matrix::Constant(1, 1, 4), Matrix::Constant(3, 1, -2), 1, shares);
  EXPECT_EQ(shares, Matrix::Ones(3, 1));
  EXPECT_THROW(simplex_least_squares(Matrix::Ones(2, 2), Matrix::Ones(3, 1), 1, shares), InvalidArgument);
}

TEST(SimplexLeastSquares, PartsThatAreTheSameShareSomehow) {
  Matrix shares;
  simplex_least_squares(Matrix::Ones(3, 3), Matrix::Ones(2, 3), 1, shares);
  EXPECT_GE(shares.minCoeff(), 0);
  EXPECT_LT((shares.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
}

}  // namespace
}  // namespace pursuit
