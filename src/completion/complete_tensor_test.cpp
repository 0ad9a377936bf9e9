#include "pursuit/completion/complete_tensor.hpp"

#include "pursuit/atoms/structures.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

AtomSets one_set_per_mode(const std::vector<Atoms>& sets) {
  std::vector<Index> panel_of;
  for (Index m = 0; m < Index(sets.size()); ++m) panel_of.push_back(m);
  return {sets, panel_of};
}
const std::vector<Atoms> kThreeNonneg{nonneg(), nonneg(), nonneg()};

/// PlantedArray atoms with noise, of which some entries are known; the others to judge by.
struct PlantedArray {
  ObservedTensor known, hidden;

  PlantedArray(const std::vector<Index>& shape, Index rank, double noise, std::uint64_t seed) {
    const PlainTensor t = dense({random_factors(shape, rank, seed, true), Vector::Ones(rank)});
    const Matrix errors = gaussian(t.count(), 1, seed + 50);
    Random random(seed);
    for (ObservedTensor* each : {&known, &hidden})
      each->entries = {shape, std::vector<std::vector<int>>(shape.size()), {}};
    for (Index e = 0; e < t.count(); ++e) {
      ObservedTensor& to = random.uniform() < 0.6 ? known : hidden;
      const auto at = t.position(e);
      for (std::size_t m = 0; m < at.size(); ++m) to.entries.index[m].push_back(int(at[m]));
      to.entries.value.push_back(t.values[std::size_t(e)] + noise * errors(e, 0));
    }
  }
};

TEST(CompleteTensor, PredictsWhatItHasNotSeen) {
  const PlantedArray data({20, 16, 14}, 3, 0.05, 1);
  for (const Regularization::Kind kind : {Regularization::none, Regularization::self_tuned}) {
    TensorCompletionOptions options;
    options.weights = WeightRule::nonneg;
    options.regularization.kind = kind;
    const TensorCompletion result = complete_tensor(data.known, one_set_per_mode(kThreeNonneg), options);
    EXPECT_LT(accuracy(result.model, data.hidden).rmse, 0.07);
    EXPECT_GE(result.model.atoms.rank(), 3);
    EXPECT_FALSE(result.path.empty());
  }
}

TEST(CompleteTensor, TheRankMayBeGiven) {
  const PlantedArray data({12, 10, 9}, 2, 0.01, 2);
  TensorCompletionOptions options;
  options.rank = 4;
  options.weights = WeightRule::nonneg;
  const TensorCompletion result = complete_tensor(data.known, one_set_per_mode(kThreeNonneg), options);
  EXPECT_LE(result.model.atoms.rank(), 4);
  EXPECT_GE(result.model.atoms.rank(), 2);
  for (const CompletionStage& stage : result.path) EXPECT_TRUE(std::isnan(stage.validation));
}

TEST(CompleteTensor, PredictionsAreMeansOfTheLoss) {
  TensorModel model{{random_factors({3, 4, 2}, 2, 3), Vector(gaussian(2, 1, 4))}, Loss::bernoulli, {}};
  model.own_terms.row_offsets = gaussian(3, 1, 5);
  model.own_terms.col_offsets = gaussian(4, 1, 6);
  model.own_terms.further_offsets = {Vector(gaussian(2, 1, 7))};
  const PlainTensor x = dense(model.atoms);
  std::vector<std::vector<int>> places(3);
  for (Index e = 0; e < x.count(); ++e)
    for (std::size_t m = 0; m < 3; ++m) places[m].push_back(int(x.position(e)[m]));
  const Vector values = predict(model, places);
  for (Index e = 0; e < x.count(); ++e) {
    const auto at = x.position(e);
    const double odds = x.values[std::size_t(e)] + model.own_terms.row_offsets[at[0]] +
                        model.own_terms.col_offsets[at[1]] + model.own_terms.further_offsets[0][at[2]];
    EXPECT_NEAR(values[e], 1 / (1 + std::exp(-odds)), 1e-12);
  }
}

/// Half the deviance of the entries that were fitted is the objective, whatever the loss.
TEST(CompleteTensor, DeviancesAreThoseOfTheObjective) {
  for (const char* spec : {"squares", "poisson", "poisson-log", "bernoulli", "huber:0.5", "gamma",
                           "negative-binomial:2", "ordinal"}) {
    SCOPED_TRACE(spec);
    const Loss loss = parse_loss(spec);
    ObservedTensor data = PlantedArray({8, 7, 6}, 2, 0.1, 8).known;
    for (double& y : data.entries.value)
      y = loss.kind == Loss::bernoulli                             ? (y > 0.5 ? 1.0 : 0.0)
          : loss.kind == Loss::gamma                               ? std::exp(y)
          : loss.kind == Loss::squares || loss.kind == Loss::huber ? y
                                                                   : std::max(0.0, std::floor(2 * y));
    TensorCompletionOptions options;
    options.rank = 2;
    options.loss = loss;
    options.weights = loss.kind == Loss::poisson ? WeightRule::nonneg : WeightRule::free;
    options.offsets = loss.kind == Loss::bernoulli;
    const TensorCompletion result = complete_tensor(
        data, one_set_per_mode(loss.kind == Loss::poisson ? kThreeNonneg : std::vector<Atoms>(3, sphere())),
        options);
    EXPECT_NEAR(accuracy(result.model, data).deviance * double(data.size()), 2 * result.objective,
                1e-6 * (1 + result.objective));
  }
}

TEST(CompleteTensor, CountsChooseTheirRankByDeviance) {
  const PlainTensor means = dense({random_factors({14, 12, 10}, 2, 9, true), Vector::Constant(2, 12.0)});
  Random random(10);
  ObservedTensor data{{means.shape, std::vector<std::vector<int>>(3), {}}, {}, false};
  for (Index e = 0; e < means.count(); ++e) {
    for (std::size_t m = 0; m < 3; ++m) data.entries.index[m].push_back(int(means.position(e)[m]));
    int count = 0;
    for (double p = random.uniform(); p > std::exp(-means.values[std::size_t(e)]); p *= random.uniform())
      ++count;
    data.entries.value.push_back(count);
  }
  TensorCompletionOptions options;
  options.loss = Loss::poisson;
  options.weights = WeightRule::nonneg;
  const TensorCompletion result = complete_tensor(data, one_set_per_mode(kThreeNonneg), options);
  EXPECT_GE(result.model.atoms.rank(), 2);
  EXPECT_LE(result.model.atoms.rank(), 4);
}

TEST(CompleteTensor, WhatIsHeldBackDependsOnPlacesAlone) {
  ObservedTensor data = PlantedArray({9, 8, 7}, 2, 0.1, 11).known, turned = data;
  for (auto& list : turned.entries.index) std::reverse(list.begin(), list.end());
  std::reverse(turned.entries.value.begin(), turned.entries.value.end());
  ObservedTensor a = hold_back(data, 0.2, 1000, 5), b = hold_back(turned, 0.2, 1000, 5);
  EXPECT_EQ(a.size(), Index(0.2 * double(a.size() + data.size())));
  std::sort(a.entries.value.begin(), a.entries.value.end());
  std::sort(b.entries.value.begin(), b.entries.value.end());
  EXPECT_EQ(a.entries.value, b.entries.value);
}

/// An entry that is known in another order of its indices is no judge of modes that share their factors.
TEST(CompleteTensor, WhatIsHeldBackIsSoInEveryOrderOfSharedIndices) {
  ObservedTensor data{{{9, 9, 4}, {{}, {}, {}}, {}}, {}, false};
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j)
      for (int k = 0; k < 4; ++k) {
        data.entries.index[0].push_back(i);
        data.entries.index[1].push_back(j);
        data.entries.index[2].push_back(k);
        data.entries.value.push_back(1 + std::min(i, j) + 10 * std::max(i, j) + 100 * k);  // of every pair
      }
  const ObservedTensor held = hold_back(data, 0.3, 1000, 5, {0, 0, 1});
  EXPECT_EQ(held.size(), 97);
  int split = 0;
  for (const double value : held.entries.value)
    split += int(std::count(data.entries.value.begin(), data.entries.value.end(), value));
  EXPECT_LE(split, 1) << "but for the last one, where the share ends";
}

TEST(CompleteTensor, ModesMayShareTheirFactors) {
  const Factors planted(std::vector<Panel>{uniform(14, 2, 14), uniform(8, 2, 15)}, {0, 0, 1});
  const PlainTensor t = dense({planted, Vector::Ones(2)});
  ObservedTensor known{{t.shape, {{}, {}, {}}, {}}, {}, false}, hidden = known;
  Random random(16);
  for (Index e = 0; e < t.count(); ++e) {
    const auto at = t.position(e);
    ObservedTensor& to = random.uniform() < 0.5 ? known : hidden;
    for (std::size_t m = 0; m < 3; ++m) to.entries.index[m].push_back(int(at[m]));
    to.entries.value.push_back(t.values[std::size_t(e)]);
  }
  const AtomSets sets({nonneg(), nonneg()}, {0, 0, 1});
  TensorCompletionOptions options;
  options.weights = WeightRule::nonneg;
  options.regularization.kind = Regularization::none;
  const TensorCompletion result = complete_tensor(known, sets, options);
  EXPECT_EQ(result.model.atoms.factors.panels(), 2);
  EXPECT_LT(accuracy(result.model, hidden).rmse, 0.05);
  options.regularization.kind = Regularization::self_tuned;
  EXPECT_THAT(message_of<InvalidArgument>([&] { complete_tensor(known, sets, options); }),
              HasSubstr("not with modes that share their factors; these take none, or a number"));
}

TEST(CompleteTensor, WhatDoesNotFitIsRefused) {
  const ObservedTensor data = PlantedArray({5, 4, 3}, 1, 0.1, 12).known;
  const AtomSets sets = one_set_per_mode(kThreeNonneg);
  EXPECT_THAT(message_of<InvalidInput>([&] { complete_tensor(data, sets, {}); }), HasSubstr("too few"));
  TensorCompletionOptions options;
  options.validation = 0;
  EXPECT_THAT(message_of<InvalidArgument>([&] { complete_tensor(data, sets, options); }),
              HasSubstr("the rank has to be given"));
  options.rank = 1;
  options.loss = Loss::poisson_log;
  options.regularization.kind = Regularization::self_tuned;
  EXPECT_THAT(message_of<InvalidArgument>([&] { complete_tensor(data, sets, options); }),
              HasSubstr("of squares alone; loss poisson-log"));
}

TEST(CompleteTensor, SelfTunedAtomsAreFittedWithAllEntriesOnceTheirNumberIsKnown) {
  const PlantedArray data({14, 12, 10}, 3, 0.1, 17);
  const AtomSets sets = one_set_per_mode({sphere(), sphere(), sphere()});
  TensorCompletionOptions options;
  options.weights = WeightRule::newest;  // free ones are means of models
  options.regularization.kind = Regularization::self_tuned;
  const TensorCompletion chosen = complete_tensor(data.known, sets, options);
  options.rank = chosen.model.atoms.rank();
  const TensorCompletion given = complete_tensor(data.known, sets, options);
  EXPECT_NEAR(chosen.objective, given.objective, 1e-3 * given.objective);
  options.rank = 0;
  bool judged = false;  // of the moments with a validation error, those without one follow
  options.observer = [&](const Moment& moment) {
    judged = judged || !std::isnan(moment.validation);
    return !judged || !std::isnan(moment.validation) || moment.rank > 1;
  };
  const TensorCompletion stopped = complete_tensor(data.known, sets, options);
  EXPECT_EQ(stopped.stop, Stop::interrupted);
  EXPECT_EQ(stopped.model.atoms.rank(), chosen.model.atoms.rank()) << "as they were judged";
}

/// What one model makes of the noise the others have not: the mean is nearer to what was planted than any
/// model of one number of atoms.
TEST(CompleteTensor, SelfTunedFreeFactorsAreTheMeanOfSeveralModels) {
  const PlantedArray data({16, 14, 12}, 3, 0.1, 21);
  const AtomSets sets = one_set_per_mode({sphere(), sphere(), sphere()});
  TensorCompletionOptions options;
  options.regularization.kind = Regularization::self_tuned;
  const TensorCompletion mean = complete_tensor(data.known, sets, options);
  const double error = accuracy(mean.model, data.hidden).rmse;
  EXPECT_LT(error, 0.12) << "the noise is 0.1";
  EXPECT_EQ(mean.stop, Stop::no_gain);
  EXPECT_GE(mean.model.atoms.rank(), 4 * 2);
  ASSERT_FALSE(mean.path.empty());
  for (std::size_t r = 0; r < mean.path.size(); ++r) {
    EXPECT_EQ(mean.path[r].rank, Index(r) + 1);
    EXPECT_TRUE(std::isfinite(mean.path[r].validation));
  }
  EXPECT_NEAR(std::sqrt(2 * mean.objective / double(data.known.size())),
              accuracy(mean.model, data.known).rmse, 1e-9);
  for (const Index rank : {2, 3, 4, 5}) {
    options.rank = rank;
    EXPECT_LT(error, 1.02 * accuracy(complete_tensor(data.known, sets, options).model, data.hidden).rmse);
  }
  options.rank = 0;
  options.threads = 3;
  const TensorCompletion threaded = complete_tensor(data.known, sets, options);
  EXPECT_TRUE(same_bits(threaded.model.atoms.weights, mean.model.atoms.weights));
  options.observer = [](const Moment& moment) { return moment.rank < 2; };
  const TensorCompletion stopped = complete_tensor(data.known, sets, options);
  EXPECT_EQ(stopped.stop, Stop::interrupted);
  EXPECT_LE(stopped.model.atoms.rank(), 2);
  EXPECT_GE(stopped.model.atoms.rank(), 1);
}

TEST(CompleteTensor, SelfTunedFreeFactorsOfUselessDataAreNone) {
  PlantedArray data({8, 7, 6}, 1, 0.1, 22);
  TensorCompletionOptions options;
  options.validation = 0.4;
  options.regularization.kind = Regularization::self_tuned;
  const AtomSets sets = one_set_per_mode({sphere(), sphere(), sphere()});
  ObservedTensor zeros = data.known, twice = data.known;
  std::fill(zeros.entries.value.begin(), zeros.entries.value.end(), 0.0);
  const TensorCompletion nothing = complete_tensor(zeros, sets, options);
  EXPECT_EQ(nothing.model.atoms.rank(), 0);
  EXPECT_EQ(accuracy(nothing.model, zeros).rmse, 0);
  for (std::size_t m = 0; m < 3; ++m) twice.entries.index[m][5] = twice.entries.index[m][1];
  EXPECT_THAT(message_of<InvalidInput>([&] { complete_tensor(twice, sets, options); }),
              HasSubstr("are the same place"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                complete_tensor(data.known, one_set_per_mode({sphere(), sphere()}), options);
              }),
              HasSubstr("2 sets for an array of 3 modes"));
}

TEST(CompleteTensor, WhetherFactorsPayIsChosenByEntriesHeldBack) {
  const PlantedArray data({14, 12, 10}, 3, 0.02, 19);
  const AtomSets sets = one_set_per_mode(kThreeNonneg);
  TensorCompletionOptions options;
  options.weights = WeightRule::nonneg;
  const auto best = [](const TensorCompletion& each) {
    double error = std::numeric_limits<double>::infinity();
    for (const CompletionStage& stage : each.path)
      if (stage.validation < error) error = stage.validation;
    return error;
  };
  const TensorCompletion none = complete_tensor(data.known, sets, options);
  options.regularization.kind = Regularization::self_tuned;
  const TensorCompletion paid = complete_tensor(data.known, sets, options);
  options.or_none = true;
  const TensorCompletion either = complete_tensor(data.known, sets, options);
  EXPECT_EQ(best(either), std::min(best(none), best(paid)));
  const TensorCompletion& better = best(none) < best(paid) ? none : paid;
  EXPECT_EQ(either.regularization.kind, better.regularization.kind);
  EXPECT_EQ(either.objective, better.objective);
  options.regularization.lambda = 1e6;  // which shrinks all to nothing
  options.regularization.kind = Regularization::ridge;
  const TensorCompletion forced = complete_tensor(data.known, sets, options);
  EXPECT_EQ(forced.regularization.kind, Regularization::none);
  EXPECT_EQ(forced.objective, none.objective);
}

TEST(CompleteTensor, ARunThatIsStoppedKeepsWhatItHas) {
  const PlantedArray data({12, 10, 9}, 3, 0.1, 13);
  TensorCompletionOptions options;
  int moments = 0;
  options.observer = [&](const Moment&) { return ++moments < 12; };
  const TensorCompletion result = complete_tensor(data.known, one_set_per_mode(kThreeNonneg), options);
  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_EQ(result.model.atoms.factors.modes(), 3);
  EXPECT_TRUE(std::isfinite(accuracy(result.model, data.hidden).rmse));
}

}  // namespace
}  // namespace pursuit
