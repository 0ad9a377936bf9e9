// Starts of a loss race: never worse than the greedy atoms alone, the same bits for any number of threads,
// and weights that sweeps have carried are as good as fitted ones.

#include "algorithms/start_search.hpp"

#include "algorithms/expansion_space.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

Matrix planted_with_gross_errors(Index rows, Index cols, std::uint64_t seed) {
  const Matrix noise = gaussian(rows, cols, seed + 2), wrong = gaussian(rows, cols, seed + 3);
  Matrix Y = gaussian(rows, 3, seed) * gaussian(3, cols, seed + 1) + 0.3 * noise;
  return (uniform(rows, cols, seed + 4).array() < 0.1).select(Y + 20 * wrong, Y);
}

FactorOptions racing(const char* loss, Index rank) {
  FactorOptions options;
  options.rank = rank;
  options.loss = parse_loss(loss);
  return options;
}

void expect_falling_steps(const FactorResult& result) {
  double before = result.trace.front().objective;
  for (const Step& step : result.trace) {
    EXPECT_LE(step.objective, before * (1 + 1e-12));
    before = step.objective;
  }
}

TEST(StartSearch, RandomStartsOfALossEndNoHigherThanGreedyAtomsAndMostlyLower) {
  int lower = 0, all = 0;
  for (const std::uint64_t seed : {1, 11, 21})
    for (const char* loss : {"huber:1", "bernoulli"}) {
      Matrix Y = planted_with_gross_errors(40, 25, seed);
      if (parse_loss(loss).kind == Loss::bernoulli)
        Y = Y.unaryExpr([](double y) { return y > 0.5 ? 1.0 : 0.0; });
      FactorOptions options = racing(loss, 4);
      const FactorResult found = factor(Y, options);
      options.starts = 0;
      const FactorResult greedy = factor(Y, options);
      EXPECT_LE(found.objective, greedy.objective * (1 + 1e-3)) << loss << " " << seed;
      EXPECT_EQ(found.model.rank(), 4);
      EXPECT_GT(found.trace.size(), greedy.trace.size());
      expect_falling_steps(found);
      lower += found.objective < 0.999 * greedy.objective ? 1 : 0;
      ++all;
    }
  EXPECT_GE(2 * lower, all);
}

TEST(StartSearch, OfNonNegativeCountsKeepsItsSets) {
  const Matrix Y =
      (uniform(30, 3, 1) * uniform(3, 20, 2) * 4).unaryExpr([](double x) { return std::floor(x); });
  FactorOptions options = racing("poisson", 3);
  options.left = options.right = nonneg();
  options.weights = WeightRule::nonneg;
  const FactorResult found = factor(Y, options);
  options.starts = 0;
  EXPECT_LE(found.objective, factor(Y, options).objective * (1 + 1e-3));
  EXPECT_GE(found.model.left().minCoeff(), 0);
  EXPECT_GE(found.model.right().minCoeff(), 0);
  EXPECT_GE(found.model.weights.minCoeff(), 0);
}

TEST(StartSearch, SameBitsForAnyNumberOfThreadsAndOneSeed) {
  const Matrix Y = planted_with_gross_errors(300, 200, 4);
  FactorOptions options = racing("huber:1", 2);
  options.polish = 4;
  options.starts = 2;
  options.threads = 1;
  const Matrix one = factor(Y, options).model.dense();
  for (const int threads : {2, 3, 16}) {
    options.threads = threads;
    EXPECT_TRUE(same_bits(factor(Y, options).model.dense(), one)) << threads;
  }
}

TEST(StartSearch, KeepsTheBestWhereItIsStopped) {
  const Matrix Y = planted_with_gross_errors(40, 25, 6);
  FactorOptions options = racing("huber:1", 3);
  int moments = 0;
  options.observer = [&](const Moment& moment) {
    moments += moment.phase == Moment::Phase::polish ? 1 : 0;
    return moments < 15;  // within the race
  };
  const FactorResult found = factor(Y, options);
  EXPECT_EQ(found.stop, Stop::interrupted);
  EXPECT_EQ(found.model.rank(), 3);
  expect_falling_steps(found);
}

TEST(StartSearch, StartsThatCannotRaceAreRefused) {
  const Matrix Y = planted_with_gross_errors(12, 9, 1);
  const auto refused = [&](const auto& change) {
    FactorOptions options = racing("huber:1", 2);
    options.starts = 3;
    change(options);
    return message_of<InvalidArgument>([&] { factor(Y, options); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused([](FactorOptions& o) { o.loss = {}; }), HasSubstr("starts 3: starts of a matrix race"));
  EXPECT_THAT(refused([](FactorOptions& o) { o.offsets = true; }), HasSubstr("beside the atoms"));
  EXPECT_THAT(refused([](FactorOptions& o) { o.left = sparse(3); }), HasSubstr("starts 3: they race where"));
  EXPECT_THAT(refused([](FactorOptions& o) { o.starts = -2; }), HasSubstr("starts -2"));
}

TEST(ExpansionSpace, WeightsThatSweepsHaveCarriedGainNothingByAFitAndAreKnownForAnotherAtom) {
  const Matrix Y =
      (uniform(40, 4, 1) * uniform(4, 25, 2) * 6).unaryExpr([](double x) { return std::floor(x); });
  const auto f = make_objective(data_matrix(Y), {.loss = Loss::poisson});
  const AtomSets sets(nonneg(), nonneg());
  ExpansionSpace space(*f, sets, WeightRule::nonneg, {.restarts = 3}, {});
  pursue(space, {.rank = 3, .corrections = 2});
  WeightSystem system = space.weight_system();
  EXPECT_GT(space.correct(30, 1e-6, {}, system), 2);
  const double swept = f->value();
  space.renew(system);
  const Objective::WeightQuadratic known = f->weight_quadratic();
  const Vector& weights = f->iterate().weights;
  const double expected = 0.5 * weights.dot(known.gram * weights) - known.linear.dot(weights);
  EXPECT_NEAR(system.change(), expected, 1e-9 * std::abs(expected));
  ExpansionSpace fitted(*f, sets, WeightRule::nonneg, {.restarts = 3}, {});
  EXPECT_GT(f->value(), swept * (1 - 1e-4));
}

}  // namespace
}  // namespace pursuit
