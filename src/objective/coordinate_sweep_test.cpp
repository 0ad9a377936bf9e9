#include "objective/coordinate_sweep.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

/// Column by column, entry by entry, as in the textbook.
Matrix naive(const Matrix& P, const Matrix& G, const CoordinateSweep& options, Matrix X) {
  for (int pass = 0; pass < options.passes; ++pass)
    for (Index i = options.first; i < X.cols(); ++i)
      for (Index row = 0; row < X.rows() && G(i, i) > 0; ++row) {
        double others = P(row, i);
        for (Index j = 0; j < X.cols(); ++j)
          if (j != i) others -= G(i, j) * X(row, j);
        X(row, i) = others / G(i, i);
        if (options.nonnegative) X(row, i) = std::max(X(row, i), 0.0);
      }
  return X;
}

TEST(CoordinateSweep, IsTheTextbookLoop) {
  for (const Index n : {1, 31, 64, 65, 1200})
    for (const Index r : {3, 4, 7, 13})
      for (const bool nonnegative : {false, true})
        for (const auto& [first, passes] : {std::pair<Index, int>{0, 1}, {0, 4}, {2, 2}, {r, 1}})
          for (int level = 0; level <= int(kernel_level()); ++level) {
            const Matrix V = uniform(40, r, 1), G = V.transpose() * V, P = gaussian(n, r, 2);
            const CoordinateSweep options{nonnegative, first, passes, 1};
            Matrix X = uniform(n, r, 3);
            const Matrix expected = naive(P, G, options, X);
            coordinate_sweep(P, G, options, X, KernelLevel(level));
            EXPECT_LT(max_difference(X, expected), 1e-11 * (1 + expected.cwiseAbs().maxCoeff()))
                << n << " rows, " << r << " columns, from " << first << ", " << passes << " passes, level "
                << level;
            EXPECT_TRUE(!nonnegative || X.rightCols(r - first).size() == 0 ||
                        X.rightCols(r - first).minCoeff() >= 0);
          }
}

TEST(CoordinateSweep, LeavesAColumnWithoutCurvatureAlone) {
  Matrix V = uniform(20, 3, 1);
  V.col(1).setZero();
  const Matrix G = V.transpose() * V, P = gaussian(10, 3, 2);
  Matrix X = uniform(10, 3, 3);
  const Matrix before = X;
  coordinate_sweep(P, G, {true}, X);
  EXPECT_EQ(X.col(1), before.col(1));
  EXPECT_TRUE(X.allFinite());
}

TEST(CoordinateSweep, GivesTheSameBitsForAnyNumberOfThreads) {
  const Matrix V = uniform(20, 9, 1), G = V.transpose() * V, P = gaussian(3001, 9, 2),
               start = uniform(3001, 9, 3);
  Matrix expected = start;
  coordinate_sweep(P, G, {true, 0, 3, 1}, expected);
  for (const int threads : {2, 3, 16}) {
    Matrix X = start;
    coordinate_sweep(P, G, {true, 0, 3, threads}, X);
    EXPECT_TRUE(same_bits(X, expected)) << threads;
  }
}

}  // namespace
}  // namespace pursuit
