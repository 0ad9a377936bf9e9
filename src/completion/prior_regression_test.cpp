// The regression of factors on features against dense linear algebra.

#include "completion/prior_regression.hpp"

#include "completion/row_posteriors.hpp"
#include "completion/test_support.hpp"
#include "linalg/cholesky.hpp"

namespace pursuit {
namespace {

constexpr int kWidth = kFactorLanes;

Features features_of(const ObservedMatrix& table) {
  return {std::make_shared<EntryTasks>(table.by_col()), std::make_shared<EntryTasks>(table.by_row()), {}};
}

/// Means, or draws; the sum over members of the variance of the prior mean.
std::vector<double> update(PriorRegression& regression, std::span<const double> tau, bool draws,
                           std::uint64_t seed, int threads, AlignedVector<float>& deviation) {
  if (!draws) return regression.improve(tau, threads, deviation);
  regression.draw(tau, seed, threads, deviation);
  return {};
}

/// x of some members, and features of which the last two have no entries.
struct Regression {
  Index members = 60, features = 12;
  ObservedMatrix table = ObservedMatrix([this] {
    ObservedEntries entries = observed(gaussian(members, features - 2, 1), 0.3, 2);
    entries.cols = features;
    return entries;
  }());
  Matrix x = gaussian(members, kWidth, 3);

  Features values() const { return features_of(table); }

  /// With a number per member in place of the values.
  Features pattern() const {
    std::vector<float> scale;
    for (Index i = 0; i < members; ++i)
      scale.push_back(1 / std::sqrt(float(std::max<Index>(1, table.by_row().count(i)))));
    Features result = features_of(table);
    result.scale = scale;
    return result;
  }
};

Matrix dense(const Features& features, Index members) {
  const GroupedEntries& entries = features.by_feature->entries();
  Matrix F = Matrix::Zero(members, entries.size());
  for (Index f = 0; f < F.cols(); ++f)
    for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e)
      F(entries.index[e], f) = features.value(e);
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
      PriorRegression regression(features, kWidth, 1);
      AlignedVector<float> deviation = floats(p.x);
      for (std::uint64_t k = 0; k < 20; ++k) {
        update(regression, tau, draws, k, 1, deviation);
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
    PriorRegression regression(features, kWidth, 1);
    AlignedVector<float> deviation = floats(x);
    std::vector<double> variances;
    for (int k = 0; k < 200; ++k) variances = update(regression, tau, false, 0, 1, deviation);
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

TEST(PriorRegression, StepsNeverLeadAwayFromTheRidgeSolution) {
  const Regression p;
  const std::vector<double> tau(kWidth, 0.5);
  PriorRegression regression(p.pattern(), kWidth, 1);
  AlignedVector<float> deviation = floats(p.x);
  // With nu at its starting value, to which every copy returns: copies share what the last step was.
  const PriorRegression fresh = regression;
  const double ratio = 0.5 / 0.01;
  const auto objective = [&](const PriorRegression& at, const AlignedVector<float>& rest) {
    return matrix(rest, kWidth).squaredNorm() + ratio * matrix(at.weights(), kWidth).squaredNorm();
  };
  const double before = objective(regression, deviation);
  regression.improve(tau, 1, deviation);
  EXPECT_LT(objective(regression, deviation), before);
  AlignedVector<float> again = floats(p.x);
  PriorRegression repeated = fresh;
  repeated.improve(tau, 1, again);  // along the gradient and along a step that is already known
  EXPECT_LE(objective(repeated, again), objective(regression, deviation) * (1 + 1e-5));
}

TEST(PriorRegression, AsksAllTheTimeAndChangesNothingWhenStopped) {
  const Regression p;
  const std::vector<double> tau(kWidth, 0.5);
  for (const Features& features : {p.pattern(), p.values()}) {
    int asked = 0;
    AlignedVector<float> whole = floats(p.x);
    PriorRegression(features, kWidth, 1).improve(tau, 1, whole, [&] { return ++asked < 0; });
    ASSERT_GE(asked, 4) << "in both sums over entries, and after them";
    for (int last = 1; last <= asked; ++last) {
      PriorRegression regression(features, kWidth, 1);
      const AlignedVector<float> weights = regression.weights();
      AlignedVector<float> deviation = floats(p.x);
      int questions = 0;
      const auto said = regression.improve(tau, 1, deviation, [&] { return ++questions >= last; });
      EXPECT_EQ(said, std::vector<double>(kWidth, 0.0)) << last;
      EXPECT_EQ(deviation, floats(p.x)) << last;
      EXPECT_EQ(regression.weights(), weights) << last;
    }
  }
}

TEST(PriorRegression, LeavesFeaturesWithoutEntriesAtZero) {
  const Regression p;
  const std::vector<double> tau(kWidth, 0.5);
  for (const bool draws : {false, true}) {
    PriorRegression regression(p.values(), kWidth, 1);
    AlignedVector<float> deviation = floats(p.x);
    for (std::uint64_t k = 0; k < 5; ++k) update(regression, tau, draws, k, 1, deviation);
    const Matrix weights = matrix(regression.weights(), kWidth);
    EXPECT_EQ(weights.bottomRows(2), Matrix::Zero(2, kWidth));
    EXPECT_GT(weights.topRows(p.features - 2).rowwise().norm().minCoeff(), 0);
  }
}

TEST(PriorRegression, KeepsItsWeightsWhenItWidens) {
  const Regression p;
  PriorRegression regression(p.values(), kWidth, 1);
  AlignedVector<float> deviation = floats(p.x);
  update(regression, std::vector<double>(kWidth, 0.5), false, 0, 1, deviation);
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
  PriorRegression all(p.values(), 3 * kWidth, 1);
  AlignedVector<float> deviation = floats(wide);
  for (int k = 0; k < 3; ++k) update(all, tau, false, 0, 1, deviation);
  for (int block = 0; block < 3; ++block) {
    PriorRegression part(p.values(), kWidth, 1);
    AlignedVector<float> of_part = floats(wide.middleCols(block * kWidth, kWidth));
    for (int k = 0; k < 3; ++k) update(part, std::span(tau).first(kWidth), false, 0, 1, of_part);
    EXPECT_EQ(matrix(part.weights(), kWidth),
              matrix(all.weights(), 3 * kWidth).middleCols(block * kWidth, kWidth));
  }
}

void take_up(PriorRegression& regression, const FactorMatrix& weights, const Eigen::VectorXf& nu,
             std::span<const double> tau, AlignedVector<float>& prior_mean) {
  int shared = 0;
  regression.set_weights(weights);
  regression.say(nullptr, shared, 1);
  regression.start_from(nu, weights.cols(), tau, prior_mean);
}

TEST(PriorRegression, TakesUpEarlierWeights) {
  const Regression p;
  PriorRegression regression(p.values(), kWidth, 1);
  // Of an earlier run, with fewer features and a narrower model.
  const FactorMatrix earlier = gaussian(p.features - 4, 5, 8).cast<float>();
  AlignedVector<float> prior_mean(std::size_t(p.members) * kWidth, 0.25F);
  const Eigen::VectorXf nu = Eigen::VectorXf::LinSpaced(5, 0.5F, 2.5F);
  const std::vector<double> tau(kWidth, 0.5);
  take_up(regression, earlier, nu, tau, prior_mean);
  for (int c = 0; c < 5; ++c) EXPECT_EQ(regression.prior_variance()[std::size_t(c)], nu[c]);
  Matrix weights = Matrix::Zero(p.features, kWidth);
  weights.topLeftCorner(p.features - 4, 5) = earlier.cast<double>();
  EXPECT_EQ(matrix(regression.weights(), kWidth), weights);
  const Matrix expected = dense(p.values(), p.members) * weights + Matrix::Constant(p.members, kWidth, 0.25);
  EXPECT_LT(max_difference(matrix(prior_mean, kWidth), expected), 1e-5);
}

TEST(PriorRegression, FindsTheSizeOfEarlierWeightsWhereItIsNotGiven) {
  const Regression p;
  PriorRegression first(p.values(), kWidth, 1), second(p.values(), kWidth, 1);
  const Matrix x = p.x + dense(p.values(), p.members) * gaussian(p.features, kWidth, 9);
  AlignedVector<float> deviation = floats(x), prior_mean(std::size_t(p.members) * kWidth, 0.0F);
  const std::vector<double> tau(kWidth, 5.0);  // each weight is vague
  for (int k = 0; k < 300; ++k) update(first, tau, false, 0, 1, deviation);
  take_up(second, matrix(first.weights(), kWidth).cast<float>(), {}, tau, prior_mean);
  for (std::size_t c = 0; c < kWidth; ++c)
    EXPECT_NEAR(second.prior_variance()[c], first.prior_variance()[c], 0.02 * first.prior_variance()[c]);
}

TEST(PriorRegression, GoesOnWithOtherEntriesOfTheSameFeatures) {
  const Regression p;
  ObservedEntries fewer = observed(gaussian(p.members, p.features, 9), 0.2, 10);
  const ObservedMatrix other(fewer);
  PriorRegression regression(p.values(), kWidth, 1);
  AlignedVector<float> deviation = floats(p.x);
  const std::vector<double> tau(kWidth, 0.5);
  update(regression, tau, false, 0, 1, deviation);
  const Matrix before = matrix(regression.weights(), kWidth);
  regression.rebind(features_of(other), 1);
  EXPECT_EQ(matrix(regression.weights(), kWidth), before);
  const Matrix F = dense(regression.features(), p.members);
  deviation = floats(p.x - F * before);
  for (int k = 0; k < 5; ++k) update(regression, tau, false, 0, 1, deviation);
  EXPECT_LT(max_difference(matrix(deviation, kWidth), p.x - F * matrix(regression.weights(), kWidth)), 2e-5);
}

TEST(PriorRegression, DrawsOfOneFeatureHaveItsPosterior) {
  // With the deviation and the weight put back before every draw, all draws are from one conditional.
  ObservedEntries entries{50, 1, {}, {}, {}};
  for (int i = 0; i < 50; i += 2) append(entries, i, 0, 0.5F + 0.02F * float(i));
  const ObservedMatrix table(entries);
  const Matrix x = gaussian(50, kWidth, 12);
  const std::vector<double> tau(kWidth, 0.8);
  const PriorRegression fresh(features_of(table), kWidth, 1);
  const Vector F = dense(fresh.features(), 50).col(0);
  constexpr double kStartingNu = 0.01;
  const double precision = F.squaredNorm() + 0.8 / kStartingNu, variance = 0.8 / precision;
  constexpr int kDraws = 4000;
  Vector mean = Vector::Zero(kWidth), squares = Vector::Zero(kWidth);
  for (int d = 0; d < kDraws; ++d) {
    PriorRegression regression = fresh;
    AlignedVector<float> deviation = floats(x);
    update(regression, tau, true, 100 + std::uint64_t(d), 1, deviation);
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
      PriorRegression regression(features_of(table), 3 * kWidth, 1);
      AlignedVector<float> deviation = floats(x);
      for (std::uint64_t k = 0; k < 3; ++k) update(regression, tau, draws, k, threads, deviation);
      return std::pair(regression.weights(), deviation);
    };
    const auto one = run(1);
    for (const int threads : {2, 3, 16}) EXPECT_EQ(run(threads), one) << threads;
  }
}

TEST(Widened, CopiesRowsAndFillsWithZeros) {
  const AlignedVector<float> rows{1, 2, 3, 4};
  EXPECT_EQ(widened(rows, 2, 3), (AlignedVector<float>{1, 2, 0, 3, 4, 0}));
  EXPECT_EQ(widened(rows, 2, 2), rows);
}

TEST(BringForward, MovesColumnsOfEveryRowAndSetsTheRest) {
  std::vector<double> rows{1, 2, 3, 4, 5, 6, 7, 8};
  bring_forward(rows, 4, {0, 2, 3}, -1);
  EXPECT_EQ(rows, (std::vector<double>{1, 3, 4, -1, 5, 7, 8, -1}));
  bring_forward(rows, 4, {0, 1, 2, 3}, -2);
  EXPECT_EQ(rows, (std::vector<double>{1, 3, 4, -1, 5, 7, 8, -1}));
}

}  // namespace
}  // namespace pursuit
