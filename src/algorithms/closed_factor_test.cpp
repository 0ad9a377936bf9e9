// Factorizations whose scores are shares.

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

/// Mixtures of three parts, some of them pure.
struct Shared {
  Matrix shares, parts, Y;
  explicit Shared(double noise = 0) : shares(uniform(40, 3, 5).array().square()), parts(uniform(12, 3, 6)) {
    shares.topRows(3) = Matrix::Identity(3, 3);
    shares = (shares.array().colwise() / shares.rowwise().sum().array()).matrix().eval();
    Y = shares * parts.transpose() + noise * gaussian(40, 12, 7);
  }
};

FactorOptions closed(Index rank) {
  FactorOptions options{.rank = rank, .left = nonneg(), .right = nonneg(), .threads = 1};
  options.closure = true;
  return options;
}

void expect_shares(const Expansion& model) {
  EXPECT_GE(model.left().minCoeff(), 0);
  EXPECT_LT((model.left().rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
}

TEST(Closure, ScoresAreSharesAndTheFitIsGood) {
  const Shared data(0.01);
  const FactorResult result = factor(data.Y, closed(3));
  expect_shares(result.model);
  for (const auto& part : result.model.right().colwise()) EXPECT_TRUE(nonneg()->contains(part));
  const Matrix rest =
      data.Y - result.model.left() * result.model.weights.asDiagonal() * result.model.right().transpose();
  EXPECT_NEAR(rest.norm(), result.relative_error * data.Y.norm(), 1e-9);
  EXPECT_LT(rest.norm(), 1.2 * (0.01 * gaussian(40, 12, 7)).norm());
  ASSERT_EQ(result.trace.size(), 1U);
  EXPECT_EQ(result.trace[0].rank, 3);
  EXPECT_EQ(result.stop, Stop::rank_reached);
}

TEST(Closure, CostsMoreThanFreeScoresOnlyWhereRowsAreNoMixtures) {
  const Shared data;
  EXPECT_LT(factor(data.Y, closed(3)).relative_error, 0.01);
  Matrix doubled = data.Y;
  doubled.topRows(20) *= 2;
  FactorOptions open = closed(3);
  open.closure = false;
  open.weights = WeightRule::nonneg;
  EXPECT_LT(factor(doubled, open).relative_error, 0.01);
  EXPECT_GT(factor(doubled, closed(2)).relative_error, 0.02) << "two shares cannot tell sizes";
}

TEST(Closure, KnownPartsKeepTheirSizes) {
  const Shared data;
  FactorOptions options = closed(3);
  options.initial = {Matrix::Zero(40, 2), data.parts.leftCols(2), Vector::Ones(2)};
  options.fixed = 2;
  options.fixed_factors = FixedFactors::right;
  const FactorResult result = factor(data.Y, options);
  expect_shares(result.model);
  const Matrix sized = result.model.right() * result.model.weights.asDiagonal();
  EXPECT_LT((sized.leftCols(2) - data.parts.leftCols(2)).norm(), 1e-12);
  EXPECT_LT((sized.col(2) - data.parts.col(2)).norm(), 0.05 * data.parts.col(2).norm());
  EXPECT_LT((result.model.left() - data.shares).cwiseAbs().maxCoeff(), 0.05);
}

TEST(Closure, TakesAnySetsOfPartsAndTheSizeOfDataDoesNotMatter) {
  const Shared data(0.01);
  FactorOptions options = closed(3);
  options.right = nonneg() + sparse(6);
  const FactorResult result = factor(data.Y, options);
  expect_shares(result.model);
  for (const auto& part : result.model.right().colwise()) EXPECT_LE((part.array() != 0).count(), 6);
  const FactorResult large = factor(Matrix(0x1p600 * data.Y), options);
  EXPECT_EQ(max_difference(large.model.left(), result.model.left()), 0);
  EXPECT_EQ(max_difference(large.model.weights, 0x1p600 * result.model.weights), 0);
}

TEST(Closure, NeverRisesAndStopsWhenItIsTold) {
  const Shared data(0.1);
  double last = std::numeric_limits<double>::infinity();
  int sweeps = 0;
  FactorOptions options = closed(4);
  options.polish_tolerance = 0;
  options.polish = 60;
  bool closing = false;
  options.observer = [&](const Moment& moment) {
    closing = closing || moment.max_sweeps == 60;  // before it, parts without closure
    if (!closing) return true;
    EXPECT_LE(moment.relative_error, last + 1e-12);
    last = moment.relative_error;
    return ++sweeps < 30;
  };
  const FactorResult result = factor(data.Y, options);
  EXPECT_EQ(sweeps, 30);
  EXPECT_EQ(result.stop, Stop::interrupted);
  expect_shares(result.model);
}

TEST(Closure, RefusesWhatDoesNotGoWithIt) {
  const Shared data;
  const auto refusal = [&](auto change) {
    FactorOptions options = closed(3);
    change(options);
    return message_of<InvalidArgument>([&] { factor(data.Y, options); });
  };
  EXPECT_THAT(refusal([](FactorOptions& o) { o.left = sparse(3); }), HasSubstr("not sparse:3"));
  EXPECT_THAT(refusal([](FactorOptions& o) { o.weights = WeightRule::newest; }), HasSubstr("weights"));
  EXPECT_THAT(refusal([](FactorOptions& o) { o.offsets = true; }), HasSubstr("plain squares"));
  EXPECT_THAT(refusal([](FactorOptions& o) { o.rank = 0; }), HasSubstr("rank 0"));
  EXPECT_THAT(refusal([&](FactorOptions& o) {
                o.initial = {data.shares, data.parts, Vector::Ones(3)};
              }),
              HasSubstr("known scores"));
  FactorOptions options = closed(2);
  EXPECT_THAT(message_of<InvalidArgument>([&] { factor_symmetric(Matrix(Matrix::Identity(4, 4)), options); }),
              HasSubstr("symmetric"));
}

TEST(Closure, OfNothingHasNoParts) {
  const FactorResult result = factor(Matrix(Matrix::Zero(5, 4)), closed(2));
  EXPECT_EQ(result.model.rank(), 0);
  EXPECT_EQ(result.stop, Stop::no_ascent);
}

}  // namespace
}  // namespace pursuit
