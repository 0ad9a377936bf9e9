// The regression of factors on features against dense linear algebra.

#include "completion/prior_regression.hpp"

#include "completion/row_posteriors.hpp"
#include "completion/test_support.hpp"
#include "linalg/cholesky.hpp"

namespace pursuit {
namespace {

constexpr int kWidth = kFactorLanes;

/// x of some members, and features of which the last two have no entries.
struct Regression {
  Index members = 60, features = 12;
  ObservedMatrix table = ObservedMatrix([this] {
    ObservedEntries entries = observed(gaussian(members, features - 2, 1), 0.3, 2);
    entries.cols = features;
    return entries;
  }());
  Matrix x = gaussian(members, kWidth, 3);

  Features values() const { return {&table.by_col(), {}}; }

  /// With a number per member in place of the values.
  Features pattern() const {
    std::vector<float> scale;
    for (Index i = 0; i < members; ++i)
      scale.push_back(1 / std::sqrt(float(std::max<Index>(1, table.by_row().count(i)))));
    return {&table.by_col(), scale};
  }
};

Matrix dense(const Features& features, Index members) {
  Matrix F = Matrix::Zero(members, features.entries->size());
  for (Index f = 0; f < F.cols(); ++f)
    for (std::int64_t e = features.entries->start[f]; e < features.entries->start[f + 1]; ++e)
      F(features.entries->index[e], f) = features.value(e);
  return F;
}

AlignedVector<float> floats(const Matrix& m) {
  AlignedVector<float> result;
  for (Index i = 0; i < m.rows(); ++i)
    for (Index c = 0; c < m.cols(); ++c) result.push_back(float(m(i, c)));
  return result;
}

Matrix matrix(const AlignedVector<float>& values, int width) {
  return Eigen::Map<const FactorMatrix>(values.data(), Index(values.size()) / width, width).cast<double>();
}

TEST(PriorRegression, KeepsTheDeviationTrue) {
  const Regression p;
  for (const Features& features : {p.values(), p.pattern()})
    for (const bool draws : {false, true}) {
      const std::vector<double> tau(kWidth, 0.5);
      PriorRegression regression(features, kWidth);
      AlignedVector<float> deviation = floats(p.x);
      for (std::uint64_t k = 0; k < 20; ++k) {
        regression.update(tau, draws, k, 1, deviation);
        const Matrix prior = dense(features, p.members) * matrix(regression.weights(), kWidth);
        EXPECT_LT(max_difference(matrix(deviation, kWidth), p.x - prior), 2e-5) << "update " << k;
      }
      EXPECT_GT(matrix(regression.weights(), kWidth).norm(), 0.1);
    }
}

TEST(PriorRegression, ConvergesToTheRidgeSolution) {
  const Regression p;
  for (const Features& features : {p.values(), p.pattern()}) {
    std::vector<double> tau;
    for (int c = 0; c < kWidth; ++c) tau.push_back(0.2 + 0.1 * c);
    const Matrix F = dense(features, p.members);
    const Matrix x = F * gaussian(p.features, kWidth, 4) + 0.5 * p.x;
    PriorRegression regression(features, kWidth);
    AlignedVector<float> deviation = floats(x);
    std::vector<double> variances;
    for (int k = 0; k < 200; ++k) variances = regression.update(tau, false, 0, 1, deviation);
    const Matrix weights = matrix(regression.weights(), kWidth);
    const Vector norms = F.colwise().squaredNorm().transpose();
    for (int c = 0; c < kWidth; ++c) {
      // nu is estimated along with the weights, so the reference is a fixed point of both.
      double nu = 0.01, spread = 0;
      Vector y;
      for (int k = 0; k < 200; ++k) {
        y = Cholesky(F.transpose() * F + tau[c] / nu * Matrix::Identity(p.features, p.features))
                .solve(F.transpose() * x.col(c));
        const Vector variance = (norms.array() > 0).select(tau[c] / (norms.array() + tau[c] / nu), 0.0);
        spread = norms.dot(variance);
        nu = (y.squaredNorm() + variance.sum()) / double((norms.array() > 0).count());
      }
      EXPECT_LT(max_difference(weights.col(c), y), 1e-3) << "coordinate " << c;
      EXPECT_NEAR(variances[c], spread, 1e-2 * spread) << "coordinate " << c;
    }
  }
}

TEST(PriorRegression, LeavesFeaturesWithoutEntriesAtZero) {
  const Regression p;
  const std::vector<double> tau(kWidth, 0.5);
  for (const bool draws : {false, true}) {
    PriorRegression regression(p.values(), kWidth);
    AlignedVector<float> deviation = floats(p.x);
    for (std::uint64_t k = 0; k < 5; ++k) regression.update(tau, draws, k, 1, deviation);
    const Matrix weights = matrix(regression.weights(), kWidth);
    EXPECT_EQ(weights.bottomRows(2), Matrix::Zero(2, kWidth));
    EXPECT_GT(weights.topRows(p.features - 2).rowwise().norm().minCoeff(), 0);
  }
}

TEST(PriorRegression, KeepsItsWeightsWhenItWidens) {
  const Regression p;
  PriorRegression regression(p.values(), kWidth);
  AlignedVector<float> deviation = floats(p.x);
  regression.update(std::vector<double>(kWidth, 0.5), false, 0, 1, deviation);
  const Matrix before = matrix(regression.weights(), kWidth);
  regression.widen(3 * kWidth);
  EXPECT_EQ(regression.width(), 3 * kWidth);
  const Matrix after = matrix(regression.weights(), 3 * kWidth);
  EXPECT_EQ(after.leftCols(kWidth), before);
  EXPECT_EQ(after.rightCols(2 * kWidth), Matrix::Zero(p.features, 2 * kWidth));
}

TEST(PriorRegression, WorksOnEveryCoordinateAlone) {
  const Regression p;
  const Matrix wide = gaussian(p.members, 3 * kWidth, 7);
  const std::vector<double> tau(3 * kWidth, 0.5);
  PriorRegression all(p.values(), 3 * kWidth);
  AlignedVector<float> deviation = floats(wide);
  for (int k = 0; k < 3; ++k) all.update(tau, false, 0, 1, deviation);
  for (int block = 0; block < 3; ++block) {
    PriorRegression part(p.values(), kWidth);
    AlignedVector<float> of_part = floats(wide.middleCols(block * kWidth, kWidth));
    for (int k = 0; k < 3; ++k) part.update(std::span(tau).first(kWidth), false, 0, 1, of_part);
    EXPECT_EQ(matrix(part.weights(), kWidth),
              matrix(all.weights(), 3 * kWidth).middleCols(block * kWidth, kWidth));
  }
}

TEST(PriorRegression, TakesUpEarlierWeights) {
  const Regression p;
  PriorRegression regression(p.values(), kWidth);
  // Of an earlier run, with fewer features and a narrower model.
  const FactorMatrix earlier = gaussian(p.features - 4, 5, 8).cast<float>();
  AlignedVector<float> prior_mean(std::size_t(p.members) * kWidth, 0.25F);
  regression.start_from(earlier, prior_mean);
  Matrix weights = Matrix::Zero(p.features, kWidth);
  weights.topLeftCorner(p.features - 4, 5) = earlier.cast<double>();
  EXPECT_EQ(matrix(regression.weights(), kWidth), weights);
  const Matrix expected = dense(p.values(), p.members) * weights + Matrix::Constant(p.members, kWidth, 0.25);
  EXPECT_LT(max_difference(matrix(prior_mean, kWidth), expected), 1e-5);
}

TEST(PriorRegression, GoesOnWithOtherEntriesOfTheSameFeatures) {
  const Regression p;
  ObservedEntries fewer = observed(gaussian(p.members, p.features, 9), 0.2, 10);
  const ObservedMatrix other(fewer);
  PriorRegression regression(p.values(), kWidth);
  AlignedVector<float> deviation = floats(p.x);
  const std::vector<double> tau(kWidth, 0.5);
  regression.update(tau, false, 0, 1, deviation);
  const Matrix before = matrix(regression.weights(), kWidth);
  regression.rebind({&other.by_col(), {}});
  EXPECT_EQ(matrix(regression.weights(), kWidth), before);
  const Matrix F = dense(regression.features(), p.members);
  deviation = floats(p.x - F * before);
  for (int k = 0; k < 5; ++k) regression.update(tau, false, 0, 1, deviation);
  EXPECT_LT(max_difference(matrix(deviation, kWidth), p.x - F * matrix(regression.weights(), kWidth)), 2e-5);
}

TEST(PriorRegression, DrawsOfOneFeatureHaveItsPosterior) {
  // With the deviation and the weight put back before every draw, all draws are from one conditional.
  ObservedEntries entries{50, 1, {}, {}, {}};
  for (int i = 0; i < 50; i += 2) append(entries, i, 0, 0.5F + 0.02F * float(i));
  const ObservedMatrix table(entries);
  const Matrix x = gaussian(50, kWidth, 12);
  const std::vector<double> tau(kWidth, 0.8);
  const PriorRegression fresh({&table.by_col(), {}}, kWidth);
  const Vector F = dense(fresh.features(), 50).col(0);
  constexpr double kStartingNu = 0.01;
  const double precision = F.squaredNorm() + 0.8 / kStartingNu, variance = 0.8 / precision;
  constexpr int kDraws = 4000;
  Vector mean = Vector::Zero(kWidth), squares = Vector::Zero(kWidth);
  for (int d = 0; d < kDraws; ++d) {
    PriorRegression regression = fresh;
    AlignedVector<float> deviation = floats(x);
    regression.update(tau, true, 100 + std::uint64_t(d), 1, deviation);
    const Vector y = matrix(regression.weights(), kWidth).row(0).transpose();
    mean += y / kDraws;
    squares += y.cwiseAbs2() / kDraws;
  }
  for (int c = 0; c < kWidth; ++c) {
    const double expected = F.dot(x.col(c)) / precision;
    EXPECT_NEAR(mean[c], expected, 4.5 * std::sqrt(variance / kDraws));
    EXPECT_NEAR(squares[c] - mean[c] * mean[c], variance, 4.5 * variance * std::sqrt(2.0 / kDraws));
  }
}

TEST(PriorRegression, GivesTheSameBitsForAnyNumberOfThreads) {
  const ObservedMatrix table(observed(gaussian(300, 700, 1), 0.05, 2));
  const Matrix x = gaussian(300, 3 * kWidth, 3);
  const std::vector<double> tau(3 * kWidth, 0.5);
  for (const bool draws : {false, true}) {
    const auto run = [&](int threads) {
      PriorRegression regression({&table.by_col(), {}}, 3 * kWidth);
      AlignedVector<float> deviation = floats(x);
      for (std::uint64_t k = 0; k < 3; ++k) regression.update(tau, draws, k, threads, deviation);
      return std::pair(regression.weights(), deviation);
    };
    const auto one = run(1);
    EXPECT_EQ(run(2), one);
    EXPECT_EQ(run(4), one);
  }
}

TEST(Widened, CopiesRowsAndFillsWithZeros) {
  const AlignedVector<float> rows{1, 2, 3, 4};
  EXPECT_EQ(widened(rows, 2, 3), (AlignedVector<float>{1, 2, 0, 3, 4, 0}));
  EXPECT_EQ(widened(rows, 2, 2), rows);
}

}  // namespace
}  // namespace pursuit
