// Sweeps over rows with gaps against plain coordinate descent on a dense matrix and its mask.

#include "objective/observed_sweep.hpp"

#include <cmath>
#include <numeric>

#include "pursuit/objective/observed.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

/// A matrix with gaps: the second row and the last column have no entry at all.
struct Gaps {
  Matrix Y, mask;
  ObservedMatrix data;

  static Gaps random(Index rows, Index cols, std::uint64_t seed) {
    Matrix mask = uniform(rows, cols, seed).unaryExpr([](double x) { return x < 0.6 ? 1.0 : 0.0; });
    if (rows > 2) mask.row(1).setZero();
    if (cols > 2) mask.col(cols - 1).setZero();
    mask(0, 0) = 1;
    const Matrix Y = uniform(rows, cols, seed + 1).cast<float>().cast<double>();
    ObservedEntries entries{rows, cols, {}, {}, {}};
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        if (mask(i, j) > 0) {
          entries.row.push_back(i);
          entries.col.push_back(j);
          entries.value.push_back(float(Y(i, j)));
        }
    return {Y, mask, ObservedMatrix(entries)};
  }
};

std::vector<Index> cuts_of(Index rows, Index pieces) {
  std::vector<Index> cuts;
  for (Index p = 0; p <= pieces; ++p) cuts.push_back(p * rows / pieces);
  return cuts;
}

/// One coordinate after the other, on the residual itself.
Panel plain_sweep(const Gaps& p, const Panel& Z, bool nonnegative, int passes, Panel X) {
  for (Index i = 0; i < X.rows(); ++i)
    for (int pass = 0; pass < passes; ++pass)
      for (Index k = 0; k < X.cols(); ++k) {
        const Vector z = Z.col(k).cwiseProduct(p.mask.row(i).transpose());
        const double curvature = z.squaredNorm();
        if (!(curvature > 0)) continue;
        const Vector residual = p.Y.row(i).transpose() - Z * X.row(i).transpose();
        X(i, k) += z.dot(residual) / curvature;
        if (nonnegative) X(i, k) = std::max(X(i, k), 0.0);
      }
  return X;
}

double squared_error(const Gaps& p, const Panel& X, const Panel& Z) {
  return 0.5 * (p.Y - X * Z.transpose()).cwiseProduct(p.mask).squaredNorm();
}

/// All pieces; half the squared residual where X ends.
double swept(const GroupedEntries& entries, const std::vector<Index>& cuts, const Panel& Z,
             const CoordinateSweep& options, Panel& X) {
  std::vector<double> squares(cuts.size() - 1, 0.0);
  observed_sweep(entries, cuts, {0, Index(squares.size())}, Z, options, X, squares.data());
  return 0.5 * std::accumulate(squares.begin(), squares.end(), 0.0);
}

TEST(ObservedSweep, IsCoordinateDescentOnTheEntriesThatWereSeen) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {1, 30}, {30, 1}, {17, 23}, {9, 150}})
    for (const Index rank : {1, 3, 8, 9, 17})
      for (const bool nonnegative : {true, false}) {
        SCOPED_TRACE(fmt::format("{} x {}, rank {}, {}", rows, cols, rank, nonnegative));
        const Gaps p = Gaps::random(rows, cols, 7);
        const Panel Z = uniform(cols, rank, 3), start = uniform(rows, rank, 4);
        Panel X = start;
        const double f =
            swept(p.data.by_row(), cuts_of(rows, 1), Z, {.nonnegative = nonnegative, .passes = 1}, X);
        EXPECT_LT(max_difference(X, plain_sweep(p, Z, nonnegative, 1, start)), 1e-9);
        EXPECT_NEAR(f, squared_error(p, X, Z), 1e-9);
      }
}

TEST(ObservedSweep, LeavesEarlierColumnsAndRowsWithoutEntriesAlone) {
  const Gaps p = Gaps::random(12, 20, 1);
  const Panel Z = uniform(20, 5, 2), start = uniform(12, 5, 3);
  Panel X = start;
  swept(p.data.by_row(), cuts_of(12, 2), Z, {.nonnegative = true, .first = 2, .passes = 3}, X);
  EXPECT_EQ(X.leftCols(2), start.leftCols(2));
  EXPECT_EQ(X.row(1), start.row(1)) << "of which nothing was seen";
  EXPECT_GT(max_difference(X.rightCols(3), start.rightCols(3)), 0.01);
}

TEST(ObservedSweep, NeverRaisesTheError) {
  const Gaps p = Gaps::random(25, 18, 5);
  Panel X = uniform(25, 4, 6), Z = uniform(18, 4, 7);
  double last = squared_error(p, X, Z);
  for (int sweep = 0; sweep < 30; ++sweep) {
    const CoordinateSweep options{.nonnegative = true, .passes = 6};
    const double after_rows = swept(p.data.by_row(), cuts_of(25, 3), Z, options, X);
    const double after_cols = swept(p.data.by_col(), cuts_of(18, 3), X, options, Z);
    EXPECT_LE(after_rows, last * (1 + 1e-12));
    EXPECT_LE(after_cols, after_rows * (1 + 1e-12));
    last = after_cols;
  }
  EXPECT_GE(X.minCoeff(), 0);
  EXPECT_GE(Z.minCoeff(), 0);
}

TEST(ObservedSweep, GivesTheSameBitsForAnyNumberOfThreads) {
  const Gaps p = Gaps::random(200, 60, 9);
  const Panel Z = uniform(60, 7, 1), start = uniform(200, 7, 2);
  Panel one = start;
  const double f = swept(p.data.by_row(), cuts_of(200, 11), Z, {.nonnegative = true, .passes = 4}, one);
  for (const int threads : {2, 3, 16}) {
    Panel many = start;
    EXPECT_EQ(swept(p.data.by_row(), cuts_of(200, 11), Z,
                    {.nonnegative = true, .passes = 4, .threads = threads}, many),
              f);
    EXPECT_TRUE(same_bits(many, one)) << threads;
  }
}

}  // namespace
}  // namespace pursuit
