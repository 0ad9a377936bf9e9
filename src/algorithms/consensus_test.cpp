#include "pursuit/algorithms/consensus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pursuit/algorithms/count_columns.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

struct PlantedPrograms {
  Matrix usages, spectra, data;
};
/// Parts with entries that are mostly small, and a little noise.
PlantedPrograms planted_programs(Index rows, Index cols, Index rank, std::uint64_t seed) {
  Random random(seed);
  PlantedPrograms result{random.gaussian_matrix(rows, rank).array().square().square(),
                         random.gaussian_matrix(cols, rank).array().square().square(),
                         {}};
  result.data = result.usages * result.spectra.transpose();
  result.data += 0.05 * result.data.mean() * random.gaussian_matrix(rows, cols).cwiseAbs();
  return result;
}

/// Of every planted spectrum the cosine with the one found that is nearest.
double worst_match(const Matrix& planted, const Matrix& found) {
  double worst = 1;
  for (Index k = 0; k < planted.cols(); ++k)
    worst = std::min(worst, (found.transpose() * planted.col(k).normalized()).maxCoeff());
  return worst;
}

ConsensusOptions quick(Index rank) {
  return {.rank = rank, .seeds = 12, .threads = 1};
}

TEST(Consensus, FindsPlantedParts) {
  const PlantedPrograms planted = planted_programs(120, 50, 4, 1);
  const Consensus found = consensus(data_matrix(planted.data), quick(4));
  EXPECT_GT(worst_match(planted.spectra, found.model.right()), 0.99);
  EXPECT_GT(found.silhouette, 0.9);
  EXPECT_GT(found.kept, 0.8);
  EXPECT_EQ(found.errors.size(), 12U);
  EXPECT_EQ(found.density.size(), 48U);
  EXPECT_EQ(found.part_of.size(), 48U);
  EXPECT_FALSE(found.interrupted);
  const Matrix usages = found.usages();
  EXPECT_LT((usages.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_GE(usages.minCoeff(), 0);
  const Vector total = usages.colwise().sum();
  for (Index k = 1; k < 4; ++k) EXPECT_LE(total[k], total[k - 1]) << "the most used part first";
  for (Index k = 0; k < 4; ++k) {
    EXPECT_NEAR(found.model.right().col(k).norm(), 1, 1e-12);
    EXPECT_GT(found.stability[std::size_t(k)], 0.9);
    EXPECT_EQ(std::count(found.part_of.begin(), found.part_of.end(), k), found.members[std::size_t(k)]);
  }
  const double plain = (planted.data - found.model.dense()).norm() / planted.data.norm();
  EXPECT_NEAR(found.relative_error, plain, 1e-6);
}

TEST(Consensus, IsTheSameForAnyThreadsAndForSparseData) {
  Matrix Y = planted_programs(40, 31, 3, 2).data;
  Y = (Y.array() < Y.mean()).select(0, Y);
  for (const auto kind : {Loss::squares, Loss::poisson}) {
    ConsensusOptions options = quick(3);
    options.loss.kind = kind;
    if (kind == Loss::poisson) Y = Y.array().floor();
    const Consensus one = consensus(data_matrix(Y), options);
    for (const int threads : {2, 3, 16}) {
      options.threads = threads;
      const Consensus other = consensus(data_matrix(Y, threads), options);
      EXPECT_EQ(one.model.right(), other.model.right());
      EXPECT_EQ(one.model.left(), other.model.left());
      EXPECT_EQ(one.density, other.density);
    }
    const SparseMatrix stored = Y.sparseView();
    const Consensus sparse = consensus(data_matrix(stored), options);
    EXPECT_GT(worst_match(one.model.right(), sparse.model.right()), 0.999);
  }
}

TEST(Consensus, TakesDataOfAnySize) {
  const Matrix Y = planted_programs(30, 20, 2, 3).data;
  const Consensus plain = consensus(data_matrix(Y), quick(2));
  const double large = std::ldexp(1.0, 600);
  const Matrix scaled = large * Y;
  const Consensus found = consensus(data_matrix(scaled), quick(2));
  EXPECT_LT((found.model.right() - plain.model.right()).norm(), 1e-6);
  EXPECT_LT((found.model.weights / large - plain.model.weights).norm(), 1e-6 * plain.model.weights.norm());
}

TEST(Consensus, UsagesHaveTheLeastDivergence) {
  const PlantedPrograms planted = planted_programs(60, 30, 2, 4);
  const Matrix counts = planted.data.array().ceil();
  ConsensusOptions options = quick(2);
  options.loss.kind = Loss::poisson;
  const Consensus found = consensus(data_matrix(counts), options);
  const auto divergence = [&](const Matrix& X) {
    double sum = 0;
    for (Index i = 0; i < X.size(); ++i) {
      const double y = counts.data()[i], x = X.data()[i];
      sum += (y > 0 ? y * std::log(y / x) : 0) - y + x;
    }
    return sum;
  };
  const double best = divergence(found.model.dense());
  EXPECT_NEAR(found.objective, best, 1e-6 * best);
  for (const double step : {0.99, 1.01}) {
    for (Index k = 0; k < 2; ++k) {
      Expansion moved = found.model;
      moved.weights[k] *= step;
      EXPECT_GE(divergence(moved.dense()), best - 1e-9 * best);
    }
  }
}

TEST(Consensus, ChoosesTheLargestRankThatStartsAgreeOn) {
  for (const Index rank : {3, 5}) {
    const PlantedPrograms planted = planted_programs(150, 60, rank, 20 + std::uint64_t(rank));
    const ConsensusChoice choice = choose_consensus(data_matrix(planted.data), {2, 3, 4, 5, 6, 7}, quick(1));
    ASSERT_EQ(choice.ranks.size(), 6U);
    EXPECT_EQ(choice.ranks[choice.chosen].model.rank(), rank) << choice.reason;
  }
}

TEST(Consensus, AnInterruptKeepsTheStartsThatAreDone) {
  const Matrix Y = planted_programs(30, 20, 2, 5).data;
  ConsensusOptions options = quick(2);
  options.watch = [](double share, const std::string&) { return share < 0.5; };
  const Consensus half = consensus(data_matrix(Y), options);
  EXPECT_TRUE(half.interrupted);
  EXPECT_EQ(half.errors.size(), 5U);
  EXPECT_EQ(half.model.rank(), 2);
  options.watch = [](double, const std::string&) { return false; };
  const Consensus nothing = consensus(data_matrix(Y), options);
  EXPECT_TRUE(nothing.interrupted);
  EXPECT_EQ(nothing.model.rank(), 0);
}

TEST(Consensus, RefusesWhatMakesNoSense) {
  const Matrix Y = planted_programs(10, 8, 2, 6).data;
  const auto refused = [&](const ConsensusOptions& options, const std::string& why) {
    try {
      consensus(data_matrix(Y), options);
      ADD_FAILURE() << "not refused: " << why;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  refused({.rank = 0}, "rank 0");
  refused({.rank = 2, .seeds = 1}, "seeds 1");
  refused({.rank = 2, .density = 0}, "density 0");
  refused({.rank = 2, .neighbours = 1.5}, "neighbours 1.5");
  refused({.rank = 2, .loss = parse_loss("huber:1")}, "loss huber");
  refused({.rank = 4, .seeds = 5, .density = 1e-9}, "fewer than the 4 parts");
  const Matrix negative = Y.array() - 100;
  EXPECT_THROW(consensus(data_matrix(negative), quick(2)), InvalidInput);
  EXPECT_THROW(consensus(data_matrix(Matrix(Matrix::Zero(4, 3))), {.rank = 1, .seeds = 2}), InvalidInput);
}

TEST(CountColumns, FindsColumnsThatVaryBeyondTheirMean) {
  Random random(7);
  Matrix counts(300, 120);
  for (Index j = 0; j < 120; ++j)
    for (Index i = 0; i < 300; ++i) {
      const double mean = 1 + 0.2 * double(j);
      const double varied = j % 10 == 3 ? mean * (i % 2 == 0 ? 0.2 : 1.8) : mean;
      counts(i, j) = std::floor(std::max(0.0, varied + std::sqrt(varied) * random.gaussian()));
    }
  const auto found = most_variable_columns(*data_matrix(counts), 12);
  ASSERT_EQ(found.size(), 12U);
  for (std::size_t k = 0; k < 12; ++k) EXPECT_EQ(found[k], Index(10 * k + 3));
  const SparseMatrix stored = counts.sparseView();
  EXPECT_EQ(most_variable_columns(*data_matrix(stored), 12), found);
  EXPECT_THROW(most_variable_columns(*data_matrix(counts), 121), InvalidArgument);

  const ChosenColumns chosen = chosen_columns(*data_matrix(stored), {found, true});
  EXPECT_EQ(chosen.data->cols(), 12);
  const Vector means = chosen.data->column_means();
  EXPECT_NEAR(chosen.data->squared_norm_about(means), 12 * 300, 1e-6) << "variances are one";
  const Matrix column = counts.col(found[1]) / chosen.deviations[1];
  Matrix unit = Matrix::Zero(12, 1), product;
  unit(1, 0) = 1;
  chosen.data->apply(unit, product);
  EXPECT_LT((product - column).norm(), 1e-9);
}

TEST(CountColumns, NamesAllConstantColumns) {
  Matrix counts = Matrix::Ones(4, 3);
  counts(0, 1) = 5;
  try {
    chosen_columns(*data_matrix(counts), {{}, true}, {"a", "b", "c"});
    ADD_FAILURE();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("a, c"));
  }
}

TEST(CountColumns, ProfilesAreRegressionsOnUsages) {
  const PlantedPrograms planted = planted_programs(90, 25, 3, 9);
  Matrix usages = planted.usages;
  for (auto row : usages.rowwise()) row /= row.sum();
  const ColumnProfiles found = column_profiles(*data_matrix(planted.data), usages);
  Matrix scaled = planted.data;
  for (auto row : scaled.rowwise()) row *= 1e6 / row.sum();
  const Matrix gram = usages.transpose() * usages;
  Matrix standard = scaled;
  for (auto column : standard.colwise()) {
    column.array() -= column.mean();
    column /= std::sqrt(column.squaredNorm() / 90);
  }
  const Matrix normal = usages.transpose() * standard;  // the normal equations hold
  EXPECT_LT((gram * found.scores.transpose() - normal).norm(), 1e-9 * normal.norm());
  EXPECT_GE(found.per_million.minCoeff(), 0);
  // The conditions of a minimum over what is not negative.
  const Matrix slope = usages.transpose() * (usages * found.per_million.transpose() - scaled);
  EXPECT_GT(slope.minCoeff(), -1e-6 * scaled.norm());
  EXPECT_LT((slope.array() * found.per_million.transpose().array()).abs().maxCoeff(),
            1e-9 * scaled.squaredNorm());
}

}  // namespace
}  // namespace pursuit
