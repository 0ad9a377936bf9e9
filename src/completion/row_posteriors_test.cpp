// One step of completion against the formulas of its header, in double precision and without any trick.

#include "completion/row_posteriors.hpp"

#include "completion/test_support.hpp"
#include "linalg/cholesky.hpp"

namespace pursuit {
namespace {

/// A step with everything in it that a step can have.
struct Problem {
  int width;
  Index rows, cols;
  ObservedMatrix data;
  Matrix z, variance;  // of the held side; z.col(0) is c
  Vector held_weight, row_weight, tau;
  Matrix prior_mean;
  double noise_variance = 0.7, value_scale = 2.5;

  static Problem random(int width, Index rows, Index cols, double share, std::uint64_t seed) {
    ObservedEntries entries = observed(gaussian(rows, cols, seed), share, seed + 1);
    // Rows 1 and 3 have no entries, row 2 has all of them: more than one panel where cols > 64.
    ObservedEntries kept{rows, cols, {}, {}, {}};
    for (std::size_t e = 0; e < entries.value.size(); ++e)
      if (entries.row[e] != 1 && entries.row[e] != 2 && entries.row[e] != 3)
        append(kept, entries.row[e], entries.col[e], entries.value[e]);
    for (int j = 0; j < cols; ++j) append(kept, 2, j, float(j % 7) - 3);
    return {.width = width,
            .rows = rows,
            .cols = cols,
            .data = ObservedMatrix(std::move(kept)),
            .z = gaussian(cols, width, seed + 2),
            .variance = 0.3 * uniform(cols, width, seed + 3),
            .held_weight = Vector::Constant(cols, 0.5) + uniform(cols, 1, seed + 4),
            .row_weight = Vector::Constant(rows, 0.4) + uniform(rows, 1, seed + 5),
            .tau = Vector::Constant(width, 0.2) + uniform(width, 1, seed + 6),
            .prior_mean = gaussian(rows, width, seed + 7)};
  }

  Regressors regressors(bool spread) const {
    Regressors held{width, AlignedVector<float>(std::size_t(cols * width)), {}, {}, float(value_scale)};
    if (spread) held.spread.resize(held.scaled.size());
    held.offset.resize(std::size_t(cols));
    for (Index j = 0; j < cols; ++j) {
      held.offset[j] = float(value_scale * z(j, 0));
      for (Index c = 0; c < width; ++c) {
        held.scaled[j * width + c] = float(std::sqrt(held_weight[j]) * (c == 0 ? 1.0 : z(j, c)));
        if (spread) held.spread[j * width + c] = float(held_weight[j] * variance(j, c));
      }
    }
    return held;
  }

  AlignedVector<float> means() const {
    AlignedVector<float> result(std::size_t(rows * width));
    for (Index i = 0; i < rows; ++i)
      for (Index c = 0; c < width; ++c) result[i * width + c] = float(prior_mean(i, c));
    return result;
  }
};

struct Answer {
  AlignedVector<float> mean, variance;
  std::vector<double> squared_error;
};

Answer answer(const Problem& p, bool spread, bool draws, std::uint64_t seed = 0, int threads = 1) {
  const auto size = std::size_t(p.rows * p.width);
  Answer result{AlignedVector<float>(size), AlignedVector<float>(size),
                std::vector<double>(std::size_t(p.rows))};
  const AlignedVector<float> prior_mean = p.means();
  const std::vector<double> tau(p.tau.begin(), p.tau.end());
  const std::vector<float> weight(p.row_weight.begin(), p.row_weight.end());
  update_rows(EntryTasks(p.data.by_row()), p.regressors(spread), {prior_mean, tau, weight, p.noise_variance},
              seed, threads,
              {result.mean, draws ? std::span<float>() : result.variance, result.squared_error});
  return result;
}

/// The same of one row, by the book.
struct Reference {
  Vector mean;
  Matrix covariance;
  double squared_error;  // expected, over the row's posterior and the held side's
};

Reference reference(const Problem& p, bool spread, Index i) {
  const GroupedEntries& entries = p.data.by_row();
  const auto regressor = [&](Index j) {
    Vector x = p.z.row(j).transpose();
    x[0] = 1;
    return x;
  };
  const auto uncertainty = [&](Index j) {
    Vector v = spread ? Vector(p.variance.row(j).transpose()) : Vector(Vector::Zero(p.width));
    v[0] = 0;
    return v;
  };
  Matrix A = p.tau.cwiseInverse().asDiagonal();
  Vector b = p.prior_mean.row(i).transpose().cwiseQuotient(p.tau);
  for (std::int64_t e = entries.start[i]; e < entries.start[i + 1]; ++e) {
    const Index j = entries.index[e];
    const double precision = p.row_weight[i] * p.held_weight[j] / p.noise_variance;
    A += precision * (regressor(j) * regressor(j).transpose());
    A.diagonal() += precision * uncertainty(j);
    b += precision * (entries.value[e] / p.value_scale - p.z(j, 0)) * regressor(j);
  }
  const Cholesky factor(A);
  Reference result{factor.solve(b), factor.solve(Matrix::Identity(p.width, p.width)), 0};
  const Vector second_moments = result.mean.cwiseAbs2() + result.covariance.diagonal();
  for (std::int64_t e = entries.start[i]; e < entries.start[i + 1]; ++e) {
    const Index j = entries.index[e];
    const Vector x = regressor(j);
    result.squared_error +=
        p.held_weight[j] * (std::pow(entries.value[e] / p.value_scale - p.z(j, 0) - x.dot(result.mean), 2) +
                            x.dot(result.covariance * x) + uncertainty(j).dot(second_moments) +
                            (spread ? p.variance(j, 0) : 0.0));
  }
  return result;
}

TEST(RowPosteriors, AreThoseOfTheFormulas) {
  for (const int width : {8, 16, 24, 32})
    for (const Index rows : {5, 16, 37, 150})  // less than a batch, one, some and a rest, several tasks
      for (const bool spread : {false, true}) {
        SCOPED_TRACE("width " + std::to_string(width) + ", rows " + std::to_string(rows) +
                     (spread ? ", spread" : ""));
        const Problem p = Problem::random(width, rows, 130, 0.2, std::uint64_t(width + rows));
        const Answer got = answer(p, spread, false);
        for (Index i = 0; i < rows; ++i) {
          const Reference want = reference(p, spread, i);
          const Eigen::Map<const Eigen::VectorXf> mean(&got.mean[i * width], width),
              variance(&got.variance[i * width], width);
          EXPECT_LT(max_difference(mean.cast<double>(), want.mean), 2e-4) << "row " << i;
          EXPECT_LT(max_difference(variance.cast<double>(), want.covariance.diagonal()), 2e-5) << "row " << i;
          EXPECT_NEAR(got.squared_error[i], want.squared_error, 1e-3 * (1 + want.squared_error))
              << "row " << i;
        }
      }
}

TEST(RowPosteriors, OfALongRowAreSumsOverItsSegments) {
  for (const int width : {8, 32}) {
    const Problem p = Problem::random(width, 5, 9001, 0.01, std::uint64_t(width));
    const Answer got = answer(p, true, false);
    for (Index i = 0; i < p.rows; ++i) {
      const Reference want = reference(p, true, i);
      const Eigen::Map<const Eigen::VectorXf> mean(&got.mean[i * width], width),
          variance(&got.variance[i * width], width);
      EXPECT_LT(max_difference(mean.cast<double>(), want.mean), 2e-4) << "row " << i;
      EXPECT_LT(max_difference(variance.cast<double>(), want.covariance.diagonal()), 2e-5) << "row " << i;
      EXPECT_NEAR(got.squared_error[i], want.squared_error, 1e-3 * (1 + want.squared_error)) << "row " << i;
    }
    for (const int threads : {2, 3, 16}) {
      const Answer many = answer(p, true, false, 0, threads);
      EXPECT_EQ(many.mean, got.mean) << threads;
      EXPECT_EQ(many.squared_error, got.squared_error) << threads;
    }
  }
}

TEST(RowPosteriors, OfARowWithoutEntriesAreItsPrior) {
  const Problem p = Problem::random(16, 20, 70, 0.3, 4);
  const Answer got = answer(p, true, false);
  for (const Index i : {1, 3}) {
    ASSERT_EQ(p.data.by_row().count(i), 0);
    for (int c = 0; c < p.width; ++c) {
      EXPECT_NEAR(got.mean[i * p.width + c], p.prior_mean(i, c), 1e-6 * (1 + std::abs(p.prior_mean(i, c))));
      EXPECT_NEAR(got.variance[i * p.width + c], p.tau[c], 1e-6);
    }
    EXPECT_NEAR(got.squared_error[i], 0, 1e-5);
  }
}

TEST(RowPosteriors, DrawsHaveTheMeanAndCovarianceOfThePosterior) {
  const Problem p = Problem::random(8, 7, 20, 0.4, 8);
  const Index row = 0;
  const Reference want = reference(p, false, row);
  constexpr int kDraws = 4000;
  Vector mean = Vector::Zero(p.width);
  Matrix squares = Matrix::Zero(p.width, p.width);
  for (int d = 0; d < kDraws; ++d) {
    const Answer got = answer(p, false, true, 1000 + std::uint64_t(d));
    const Vector x = Eigen::Map<const Eigen::VectorXf>(&got.mean[row * p.width], p.width).cast<double>();
    mean += x / kDraws;
    squares += (x - want.mean) * (x - want.mean).transpose() / kDraws;
  }
  const Vector deviation = want.covariance.diagonal().cwiseSqrt();
  for (int a = 0; a < p.width; ++a) {
    EXPECT_NEAR(mean[a], want.mean[a], 4.5 * deviation[a] / std::sqrt(kDraws));
    for (int c = 0; c < p.width; ++c)  // the variance of a product of two Gaussians is at most 2 s_a^2 s_c^2
      EXPECT_NEAR(squares(a, c), want.covariance(a, c),
                  4.5 * std::sqrt(2.0 / kDraws) * deviation[a] * deviation[c]);
  }
}

TEST(RowPosteriors, DrawsDifferFromRowToRowAndFromSeedToSeed) {
  Problem p = Problem::random(8, 40, 30, 0.2, 5);
  p.prior_mean.row(3) = p.prior_mean.row(1);
  p.row_weight[3] = p.row_weight[1];
  const Answer one = answer(p, false, true, 1), again = answer(p, false, true, 1),
               other = answer(p, false, true, 2);
  EXPECT_EQ(one.mean, again.mean);
  EXPECT_NE(one.mean, other.mean);
  EXPECT_NE(one.mean[1 * 8], one.mean[3 * 8]) << "two rows of which the same is known, nothing";
}

TEST(RowPosteriors, AreTheSameBitsForAnyNumberOfThreads) {
  const Problem p = Problem::random(16, 1000, 70, 0.1, 6);
  for (const bool draws : {false, true}) {
    const Answer one = answer(p, !draws, draws, 3, 1);
    for (const int threads : {2, 3, 16}) {
      const Answer many = answer(p, !draws, draws, 3, threads);
      EXPECT_EQ(many.mean, one.mean) << threads;
      EXPECT_EQ(many.variance, one.variance) << threads;
      EXPECT_EQ(many.squared_error, one.squared_error) << threads;
    }
  }
}

}  // namespace
}  // namespace pursuit
