#include "pursuit/algorithms/factor_observed_tensor.hpp"

#include <algorithm>

#include "pursuit/atoms/structures.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

AtomSets sets_for_modes(const std::vector<Atoms>& sets) {
  std::vector<Index> panel_of;
  for (Index m = 0; m < Index(sets.size()); ++m) panel_of.push_back(m);
  return {sets, panel_of};
}

/// A share of the entries.
ObservedTensor seen_of(const PlainTensor& t, double share, std::uint64_t seed) {
  Random random(seed);
  ObservedTensor data{{t.shape, std::vector<std::vector<int>>(t.shape.size()), {}}, {}, false};
  for (Index e = 0; e < t.count(); ++e) {
    if (random.uniform() >= share) continue;
    const auto at = t.position(e);
    for (std::size_t m = 0; m < at.size(); ++m) data.entries.index[m].push_back(int(at[m]));
    data.entries.value.push_back(t.values[std::size_t(e)]);
  }
  return data;
}

double worst_cosine(const Panel& planted, const Panel& found) {
  const Matrix cosines =
      (planted.colwise().normalized().transpose() * found.colwise().normalized()).cwiseAbs();
  return cosines.rowwise().maxCoeff().minCoeff();
}

TEST(FactorObservedTensor, FindsPlantedAtomsBehindGaps) {
  const Expansion planted(random_factors({20, 15, 12}, 3, 1, true), Vector::Ones(3));
  const PlainTensor t = dense(planted);
  for (const Start start : {Start::greedy, Start::leading}) {
    const FactorResult result = factor_tensor(
        seen_of(t, 0.5, 2), sets_for_modes({nonneg(), nonneg(), nonneg()}),
        {.rank = 3, .weights = WeightRule::nonneg, .start = start, .polish = 3000, .polish_tolerance = 1e-9});
    EXPECT_LT(distance(t, dense(result.model)) / t.norm(), 0.02);
    for (Index m = 0; m < 3; ++m) EXPECT_GT(worst_cosine(planted.factors[m], result.model.factors[m]), 0.99);
  }
}

TEST(FactorObservedTensor, EverySetOnEveryModeDescendsAndKeepsItsMembers) {
  const std::vector<Atoms> sets{sphere(), nonneg(), sparse(3), nonneg() + sparse(3), unimodal(), smooth(0.5)};
  for (const auto& shape : {std::vector<Index>{6, 7, 5}, std::vector<Index>{5, 4, 6, 4}})
    for (std::size_t s = 0; s < sets.size(); ++s)
      for (std::size_t mode = 0; mode < shape.size(); ++mode)
        for (const bool weighted : {false, true}) {
          SCOPED_TRACE(sets[s].spec() + ", mode " + std::to_string(mode));
          ObservedTensor data = seen_of(gaussian_tensor(shape, 3 + s), 0.7, 4);
          if (weighted)
            for (std::size_t e = 0; e < data.entries.value.size(); ++e)
              data.weights.push_back(1.0 + double(e % 3));
          std::vector<Atoms> of_modes(shape.size(), sphere());
          of_modes[mode] = sets[s];
          double last = 1;
          const FactorResult result =
              factor_tensor(data, sets_for_modes(of_modes), {.rank = 3, .polish = 20});
          for (const Step& step : result.trace) {
            EXPECT_LE(step.relative_error, last * (1 + 1e-12));
            last = step.relative_error;
          }
          const PlainTensor x = dense(result.model);
          double squares = 0;
          for (std::size_t e = 0; e < data.entries.value.size(); ++e) {
            Index place = 0;
            for (std::size_t m = 0; m < shape.size(); ++m)
              place = place * shape[m] + data.entries.index[m][e];
            const double r = data.entries.value[e] - x.values[std::size_t(place)];
            squares += 0.5 * r * r * (weighted ? data.weights[e] : 1.0);
          }
          EXPECT_NEAR(result.objective, squares, 1e-9 * (1 + squares));
          for (Index k = 0; k < result.model.rank(); ++k)
            EXPECT_TRUE(sets[s].of(k).contains(result.model.factors[Index(mode)].col(k), 1e-6));
        }
}

TEST(FactorObservedTensor, LossesDescendWithSetsOnModes) {
  for (const char* spec : {"poisson", "poisson-log", "bernoulli", "huber:1", "gamma"}) {
    SCOPED_TRACE(spec);
    const Loss loss = parse_loss(spec);
    PlainTensor t = gaussian_tensor({7, 6, 5}, 5);
    for (double& y : t.values)
      y = loss.kind == Loss::bernoulli ? (y > 0 ? 1.0 : 0.0)
          : loss.kind == Loss::huber   ? y
          : loss.kind == Loss::gamma   ? std::exp(y)
                                       : std::floor(std::exp(y));
    const bool counts = loss.kind == Loss::poisson;
    for (const bool full : {false, true}) {
      const ObservedTensor data =
          full ? ObservedTensor{listed(t), {}, loss.kind != Loss::gamma} : seen_of(t, 0.7, 6);
      const FactorResult result = factor_tensor(
          data, sets_for_modes({counts ? nonneg() : sphere(), nonneg(), nonneg() + sparse(3)}),
          {.rank = 3, .weights = counts ? WeightRule::nonneg : WeightRule::free, .loss = loss, .polish = 20});
      double last = std::numeric_limits<double>::infinity();
      for (const Step& step : result.trace) {
        EXPECT_LE(step.objective, last * (1 + 1e-12));
        last = step.objective;
      }
      EXPECT_LT(result.objective, result.null_objective);
      for (Index k = 0; k < result.model.rank(); ++k)
        EXPECT_TRUE((nonneg() + sparse(3)).of(k).contains(result.model.factors[2].col(k), 1e-6));
    }
  }
}

TEST(FactorObservedTensor, FullSquaresAreThoseOfTheTarget) {
  const PlainTensor t = dense({random_factors({9, 8, 7}, 3, 7, true), Vector::Ones(3)});
  const AtomSets sets = sets_for_modes({nonneg(), nonneg(), nonneg()});
  const FactorOptions options{
      .rank = 3, .weights = WeightRule::nonneg, .polish = 2000, .polish_tolerance = 1e-10};
  const FactorResult result = factor_tensor(seen_of(t, 2, 8), sets, options);
  EXPECT_LT(result.relative_error, 1e-3);
}

TEST(FactorObservedTensor, PermutedModesGiveThePermutedResult) {
  const Expansion planted(random_factors({6, 5, 4}, 2, 9, true), Vector::Ones(2));
  const ObservedTensor data = seen_of(dense(planted), 0.8, 10);
  ObservedTensor turned = data;
  turned.entries.shape = {4, 6, 5};
  turned.entries.index = {data.entries.index[2], data.entries.index[0], data.entries.index[1]};
  const AtomSets sets = sets_for_modes({nonneg(), nonneg(), nonneg()});
  const FactorOptions options{
      .rank = 2, .weights = WeightRule::nonneg, .polish = 5000, .polish_tolerance = 1e-12};
  const FactorResult a = factor_tensor(data, sets, options), b = factor_tensor(turned, sets, options);
  const Index of_turned[] = {1, 2, 0};
  for (Index mode = 0; mode < 3; ++mode)
    EXPECT_GT(worst_cosine(a.model.factors[mode], b.model.factors[of_turned[mode]]), 1 - 1e-5);
}

/// A slice of which nothing is known: nothing is said of it, whichever way a run starts.
TEST(FactorObservedTensor, ASliceWithoutEntriesHasNoPartInAnyAtom) {
  ObservedTensor data = seen_of(dense({random_factors({6, 5, 4}, 2, 11, true), Vector::Ones(2)}), 2, 12);
  data.weights.assign(data.entries.value.size(), 1.0);
  for (std::size_t e = 0; e < data.weights.size(); ++e)
    if (data.entries.index[1][e] == 3) data.weights[e] = 0;
  for (const Start start : {Start::greedy, Start::leading}) {
    const FactorResult result = factor_tensor(
        data, sets_for_modes({nonneg(), nonneg(), nonneg()}),
        {.rank = 2, .weights = WeightRule::nonneg, .start = start, .polish = 500, .polish_tolerance = 1e-9});
    EXPECT_TRUE(result.model.factors[1].row(3).isZero(0));
    EXPECT_LT(result.relative_error, 0.02);
  }
  for (const Atoms& set : {sphere(), smooth(0.5), unimodal(), sparse(3)})
    EXPECT_TRUE(factor_tensor(data, sets_for_modes({sphere(), set, sphere()}), {.rank = 2})
                    .model.factors[1]
                    .allFinite())
        << set.spec();
}

TEST(FactorObservedTensor, SameBitsForAnyNumberOfThreads) {
  const ObservedTensor data = seen_of(gaussian_tensor({60, 50, 40}, 13), 0.6, 14);
  const AtomSets sets = sets_for_modes({nonneg(), sphere(), sparse(5)});
  const FactorResult one = factor_tensor(data, sets, {.rank = 2, .polish = 3, .threads = 1});
  for (const int threads : {2, 3, 16}) {
    const FactorResult many = factor_tensor(data, sets, {.rank = 2, .polish = 3, .threads = threads});
    for (Index m = 0; m < 3; ++m) EXPECT_TRUE(same_bits(one.model.factors[m], many.model.factors[m]));
    EXPECT_TRUE(same_bits(one.model.weights, many.model.weights));
  }
}

TEST(FactorObservedTensor, WhatDoesNotFitIsRefused) {
  const ObservedTensor data = seen_of(gaussian_tensor({4, 3, 2}, 15), 2, 16);
  const auto refusal = [&](const AtomSets& sets, const FactorOptions& options) {
    return message_of<InvalidArgument>([&] { factor_tensor(data, sets, options); });
  };
  EXPECT_THAT(refusal(sets_for_modes({nonneg(), nonneg()}), {.rank = 1}),
              HasSubstr("2 sets for an array of 3 modes"));
  EXPECT_THAT(refusal(AtomSets({nonneg(), nonneg()}, {0, 0, 1}), {.rank = 1}),
              HasSubstr("modes 0 and 1 share their factors, but have sizes 4 and 3"));
  EXPECT_THAT(refusal(sets_for_modes({nonneg(), nonneg(), nonneg()}), {.rank = 0}), HasSubstr("rank 0"));
  PlainTensor counts({4, 3, 2});
  for (double& y : counts.values) y = 1;
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                factor_tensor(seen_of(counts, 2, 17), sets_for_modes({nonneg(), sphere(), nonneg()}),
                              {.rank = 1, .weights = WeightRule::nonneg, .loss = Loss::poisson});
              }),
              HasSubstr("set of mode 1 sphere: has members with negative entries"));
}

/// u (x) u (x) v, of which entries are hidden on one side of the diagonal alone.
TEST(FactorObservedTensor, ModesMayShareTheirFactorsBehindGaps) {
  const Factors planted(std::vector<Panel>{uniform(12, 2, 1), uniform(9, 2, 2)}, {0, 0, 1});
  const PlainTensor t = dense({planted, Vector::Ones(2)});
  const ObservedTensor data = seen_of(t, 0.4, 19);
  for (const bool nonnegative : {true, false}) {
    const Atoms set = nonnegative ? nonneg() : sphere();
    const FactorResult result = factor_tensor(data, AtomSets({set, set}, {0, 0, 1}),
                                              {.rank = 2,
                                               .weights = nonnegative ? WeightRule::nonneg : WeightRule::free,
                                               .polish = 1000,
                                               .polish_tolerance = 1e-9});
    EXPECT_EQ(result.model.factors.panels(), 2);
    EXPECT_LT(distance(t, dense(result.model)) / t.norm(), 0.02);
  }
}

/// Whatever the loss f falls, factors are members, and f is that of the model without shared factors at the
/// same place.
TEST(FactorObservedTensor, ModesMayShareTheirFactorsUnderAnyLossAndWeights) {
  struct Case {
    const char* loss;
    Atoms shared, single;
    bool nonnegative, offsets;
  };
  const std::vector<Index> panel_of{1, 0, 1, 1};
  for (const auto& [loss, shared, single, nonnegative, offsets] :
       {Case{"squares", sparse(3), sphere(), false, true},
        Case{"huber:0.5", sphere(), sphere(), false, false},
        Case{"bernoulli", sphere(), nonneg(), false, true}, Case{"poisson", nonneg(), nonneg(), true, false},
        Case{"poisson", nonneg() + unimodal(), nonneg(), true, false},
        Case{"gamma", sphere(), sphere(), false, true}})
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(std::string(loss) + ", " + shared.spec());
      const Factors planted(std::vector<Panel>{uniform(5, 2, 3), uniform(6, 2, 4)}, {1, 0, 1, 1});
      PlainTensor t = dense({planted, Vector::Constant(2, 4.0)});
      for (double& y : t.values) {
        if (std::string(loss) == "bernoulli") y = y > 1 ? 1 : 0;
        if (std::string(loss) == "poisson") y = std::floor(y);
        if (std::string(loss) == "gamma") y += 0.1;
      }
      ObservedTensor data = seen_of(t, 0.7, 20);
      if (weighted)
        for (std::size_t e = 0; e < data.entries.value.size(); ++e) data.weights.push_back(double(e % 3));
      const FactorOptions options{.rank = 2,
                                  .weights = nonnegative ? WeightRule::nonneg : WeightRule::free,
                                  .loss = parse_loss(loss),
                                  .offsets = offsets,
                                  .polish = 30};
      const FactorResult result = factor_tensor(data, AtomSets({single, shared}, {1, 0, 1, 1}), options);
      double last = std::numeric_limits<double>::infinity();
      for (const Step& step : result.trace) {
        EXPECT_LE(step.objective, last * (1 + 1e-12));
        last = step.objective;
      }
      EXPECT_LT(result.objective, 0.9 * result.null_objective);
      for (Index k = 0; k < result.model.rank(); ++k)
        EXPECT_TRUE(shared.of(k).contains(result.model.factors[0].col(k), 1e-6));
      if (offsets) continue;
      const auto apart = make_objective(data, {.loss = parse_loss(loss)});
      std::vector<Panel> panels;
      for (Index m = 0; m < 4; ++m) panels.push_back(result.model.factors[m]);
      apart->move_to({Factors(panels, {0, 1, 2, 3}), result.model.weights});
      EXPECT_NEAR(result.objective, apart->value(), 1e-9 * apart->value());
      EXPECT_NEAR(result.null_objective, apart->null_value(), 1e-9 * apart->null_value());
    }
}

TEST(FactorObservedTensor, SharedFactorsHaveTheSameBitsForAnyNumberOfThreads) {
  PlainTensor t = dense({Factors(std::vector<Panel>{uniform(40, 2, 5), uniform(50, 2, 6)}, {0, 0, 1}),
                         Vector::Constant(2, 3.0)});
  for (double& y : t.values) y = std::floor(y);
  const ObservedTensor data = seen_of(t, 0.8, 21);
  const AtomSets sets({nonneg(), nonneg()}, {0, 0, 1});
  const auto run = [&](int threads) {
    return factor_tensor(data, sets,
                         {.rank = 2,
                          .weights = WeightRule::nonneg,
                          .loss = Loss::poisson,
                          .polish = 3,
                          .threads = threads})
        .model;
  };
  const Expansion one = run(1);
  for (const int threads : {2, 3, 16}) {
    const Expansion many = run(threads);
    for (Index m = 0; m < 3; ++m) EXPECT_TRUE(same_bits(one.factors[m], many.factors[m]));
    EXPECT_TRUE(same_bits(one.weights, many.weights));
  }
}

TEST(FactorObservedTensor, NothingHasNoAtoms) {
  const FactorResult result = factor_tensor(seen_of(PlainTensor({3, 2, 2}), 2, 18),
                                            sets_for_modes({sphere(), sphere(), sphere()}), {.rank = 2});
  EXPECT_EQ(result.model.rank(), 0);
  EXPECT_EQ(result.stop, Stop::no_ascent);
}

}  // namespace
}  // namespace pursuit
