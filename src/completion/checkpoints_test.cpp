// A completion that was killed between any two sweeps or draws, and goes on with another number of threads,
// ends where it would have ended, bit for bit.

#include <atomic>

#include "checkpoints_support.hpp"
#include "completion/test_support.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/completion/complete_tensor.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/structured.hpp"

namespace pursuit {
namespace {

template <class Numbers>
bool same_floats(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

void expect_same_side(const CompletionSide& a, const CompletionSide& b) {
  EXPECT_TRUE(same_floats(a.mean, b.mean));
  EXPECT_TRUE(same_floats(a.variance, b.variance));
  EXPECT_TRUE(same_floats(a.pattern, b.pattern));
  EXPECT_TRUE(same_floats(a.features, b.features));
  EXPECT_TRUE(same_floats(a.prior_variance, b.prior_variance));
  EXPECT_EQ(a.noise_weight, b.noise_weight);
  EXPECT_EQ(a.noise_shape, b.noise_shape);
}

void expect_same_completion(const CompletionResult& a, const CompletionResult& b) {
  ASSERT_EQ(a.model.rank(), b.model.rank());
  expect_same_side(a.model.rows, b.model.rows);
  expect_same_side(a.model.cols, b.model.cols);
  EXPECT_TRUE(same_floats(a.model.average_rows, b.model.average_rows));
  EXPECT_TRUE(same_floats(a.model.average_cols, b.model.average_cols));
  EXPECT_EQ(a.model.noise_variance, b.model.noise_variance);
  ASSERT_EQ(a.model.samples.size(), b.model.samples.size());
  for (std::size_t k = 0; k < a.model.samples.size(); ++k) {
    EXPECT_TRUE(same_floats(a.model.samples[k].rows, b.model.samples[k].rows));
    EXPECT_TRUE(same_floats(a.model.samples[k].cols, b.model.samples[k].cols));
    EXPECT_EQ(a.model.samples[k].col_noise_weight, b.model.samples[k].col_noise_weight);
  }
  EXPECT_TRUE(same_bits(a.model.atoms.weights, b.model.atoms.weights));
  for (Index p = 0; p < a.model.atoms.factors.panels(); ++p)
    EXPECT_TRUE(same_bits(a.model.atoms.factors.panel(p), b.model.atoms.factors.panel(p)));
  EXPECT_TRUE(same_predictions(a.predictions, b.predictions));
  EXPECT_EQ(a.seen.value, b.seen.value);
  EXPECT_EQ(a.stop, b.stop);
  ASSERT_EQ(a.path.size(), b.path.size());
  for (std::size_t k = 0; k < a.path.size(); ++k) {
    EXPECT_EQ(a.path[k].rank, b.path[k].rank);
    EXPECT_EQ(a.path[k].sweeps, b.path[k].sweeps);
    EXPECT_TRUE(a.path[k].validation == b.path[k].validation || std::isnan(a.path[k].validation));
  }
}

ObservedEntries few_entries(bool zeros_and_ones = false) {
  ObservedEntries entries = planted(60, 45, 2, 0.3, 0.5, 3).train;
  if (zeros_and_ones)
    for (float& value : entries.value) value = value > 0 ? 1.0F : 0.0F;
  return entries;
}

void expect_completion_resumes(const ObservedEntries& entries, CompletionOptions options,
                               std::size_t kills = 25) {
  for (int i = 0; i < 9; ++i) options.predict.push_back({i, 2 * i});
  expect_resumes_anywhere(
      [&](const CheckpointsPtr& checkpoints, int threads) {
        options.checkpoints = checkpoints;
        options.threads = threads;
        return complete(entries, options);
      },
      expect_same_completion, kills);
}

TEST(CompletionCheckpoints, OfEveryStageOfTheSearchForARank) {
  expect_completion_resumes(few_entries(), {}, 1000);
}

TEST(CompletionCheckpoints, OfDraws) {
  expect_completion_resumes(few_entries(), {.max_rank = 3, .samples = 30, .stored_samples = 4});
}

TEST(CompletionCheckpoints, OfNothingHeldBackAndNoPattern) {
  expect_completion_resumes(few_entries(), {.use_pattern = false, .validation = 0});
}

TEST(CompletionCheckpoints, OfZerosAndOnesAndTheVarianceTheyNeed) {
  expect_completion_resumes(few_entries(true), {.loss = Loss::bernoulli, .max_rank = 7});
}

TEST(CompletionCheckpoints, OfZerosAndOnesWhoseVarianceIsKept) {
  ObservedEntries entries = planted(160, 40, 1, 0.6, 0.4, 8).train;
  for (float& value : entries.value) value = value > 2 ? 1.0F : 0.0F;
  expect_completion_resumes(entries, {.loss = Loss::bernoulli, .max_rank = 3});
}

TEST(CompletionCheckpoints, OfFeaturesAndWeights) {
  const ObservedEntries entries = few_entries();
  const FeatureTable features = observed(gaussian(entries.rows, 4, 5), 0.8, 6);
  std::vector<float> weights(entries.value.size());
  for (std::size_t e = 0; e < weights.size(); ++e) weights[e] = float(e % 3);
  expect_completion_resumes(entries, {.max_rank = 7, .entry_weights = weights, .row_features = &features});
}

TEST(CompletionCheckpoints, OfAModelThatIsUpdated) {
  const CompletionModel start = complete(few_entries(), {.max_rank = 3}).model;
  const ObservedEntries more = planted(66, 50, 2, 0.3, 0.5, 4).train;
  expect_completion_resumes(more, {.max_rank = 3, .samples = 25, .start = &start});
}

TEST(CompletionCheckpoints, OfValuesInAnotherUnit) {
  ObservedEntries entries = few_entries();
  for (float& value : entries.value) value *= 0x1p70F;
  expect_completion_resumes(entries, {.max_rank = 3});
}

void expect_structured_resumes(const ObservedEntries& entries, StructuredOptions options,
                               std::size_t kills = 12) {
  for (int i = 0; i < 9; ++i) options.predict.push_back({i, 2 * i});
  options.max_rank = 3;
  expect_resumes_anywhere(
      [&](const CheckpointsPtr& checkpoints, int threads) {
        options.checkpoints = checkpoints;
        options.threads = threads;
        return complete_structured(entries, options);
      },
      expect_same_completion, kills);
}

TEST(StructuredCheckpoints, OfEveryWayThatIsTried) {
  expect_structured_resumes(few_entries(), {.left = nonneg(), .right = sparse(20), .choose = true}, 40);
}

TEST(StructuredCheckpoints, OfPresetsAndPolishes) {
  expect_structured_resumes(few_entries(), completion_preset("gmpr"));
  expect_structured_resumes(few_entries(), {.left = sparse(20), .right = sphere(), .polish = 15});
}

TEST(StructuredCheckpoints, OfSymmetricAtoms) {
  const Matrix half = gaussian(40, 2, 7);
  ObservedEntries entries = observed(half * half.transpose(), 0.6, 8);
  ObservedEntries upper{entries.rows, entries.cols, {}, {}, {}};
  for (std::size_t e = 0; e < entries.row.size(); ++e)
    if (entries.row[e] <= entries.col[e]) append(upper, entries.row[e], entries.col[e], entries.value[e]);
  expect_structured_resumes(upper, {.left = sphere(), .right = sphere(), .symmetric = true});
}

TEST(StructuredCheckpoints, OfALossWhoseRidgeIsFound) {
  expect_structured_resumes(few_entries(true),
                            {.left = sphere(),
                             .right = sphere(),
                             .loss = Loss::bernoulli,
                             .regularization = {Regularization::self_tuned, 0},
                             .offsets = true,
                             .polish = 8},
                            4);
}

/// A sweep that was left half done is not kept: the state before it is.
TEST(CompletionCheckpoints, ARunThatIsStoppedInsideASweepGoesOnFromTheOneBefore) {
  const ObservedEntries entries = few_entries();
  CompletionOptions options{.max_rank = 3};
  const CompletionResult whole = complete(entries, options);
  for (const int stop_at : {1, 2, 5, 11, 20}) {
    bool stop = false;  // seen inside the next sweep
    std::vector<Snapshot> left;
    options.interrupted = [&] { return stop; };
    options.observer = [&, asked = 0](const Moment&) mutable {
      if (++asked == stop_at) stop = true;
      return asked <= stop_at;
    };
    options.checkpoints = std::make_shared<Checkpoints>(
        Checkpoints::Rhythm{}, [&](const Snapshot& snapshot) { left.push_back(snapshot); });
    EXPECT_EQ(complete(entries, options).stop, Stop::interrupted);
    ASSERT_EQ(left.size(), 1U);
    options.interrupted = {};
    options.observer = {};
    options.checkpoints = going_on_from(left.front());
    expect_same_completion(whole, complete(entries, options));
  }
}

TEST(CompletionCheckpoints, AreRefusedByAnotherRunWhichSaysWhatDiffers) {
  const ObservedEntries entries = few_entries();
  const Snapshot snapshot = all_snapshots([&](const CheckpointsPtr& checkpoints) {
                              complete(entries, {.max_rank = 3, .checkpoints = checkpoints});
                            }).at(3);
  const auto refusal = [&](const ObservedEntries& data, CompletionOptions options) {
    options.checkpoints = going_on_from(snapshot);
    return message_of<InvalidInput>([&] { complete(data, options); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal(entries, {.max_rank = 7}), HasSubstr("max_rank is 3 there and 7 here"));
  EXPECT_THAT(refusal(entries, {.max_rank = 3, .samples = 9}), HasSubstr("samples is 0 there and 9 here"));
  ObservedEntries changed = entries;
  changed.value.back() += 1;
  EXPECT_THAT(refusal(changed, {.max_rank = 3}), HasSubstr("entries is "));
}

TEST(CompletionCheckpoints, ThatSomebodyChangedAreRefusedOrHarmless) {
  const ObservedEntries entries = few_entries();
  const std::vector<Snapshot> all = all_snapshots([&](const CheckpointsPtr& checkpoints) {
    complete(entries, {.max_rank = 3, .samples = 3, .checkpoints = checkpoints});
  });
  const auto resumed = [&](const Snapshot& snapshot) {
    try {
      complete(entries, {.max_rank = 3, .samples = 3, .checkpoints = going_on_from(snapshot)});
      return std::string("harmless");
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
  };
  using testing::HasSubstr;
  for (const Snapshot& snapshot : {all.front(), all.back()})
    for (const auto& [name, array] : snapshot) {
      SCOPED_TRACE(name);
      Snapshot changed = snapshot;
      changed.erase(name);
      if (!name.ends_with(".kept")) {
        EXPECT_THAT(resumed(changed), HasSubstr("is missing"));
      }
      changed = snapshot;
      if (array.shape.empty()) {
        changed[name] = {{}, std::vector<std::int64_t>{-1}};
        resumed(changed);
      } else {
        changed[name] = {{0}, std::vector<float>{}};
        resumed(changed);
        changed[name] = {{1}, std::vector<double>{std::nan("")}};
        resumed(changed);
      }
    }
}

ObservedEntries few_clicks() {
  ObservedEntries clicks = planted(70, 40, 3, 0.5, 0.25, 5).train;
  for (float& value : clicks.value) value = 1 + std::abs(std::round(value));
  return clicks;
}

/// Zeros, ridge and rank are chosen one after the other: every trial is one to be left and gone on with.
TEST(CompletionCheckpoints, OfImplicitFeedbackInEveryTrialOfItsSearch) {
  for (const double validation : {0.1, 0.0})
    expect_resumes_anywhere(
        [&](const CheckpointsPtr& checkpoints, int threads) {
          return complete_implicit(few_clicks(), {.confidence = parse_confidence("log:10:1"),
                                                  .max_rank = 20,
                                                  .validation = validation,
                                                  .predict = {{1, 2}, {3, 4}},
                                                  .threads = threads,
                                                  .checkpoints = checkpoints});
        },
        expect_same_completion, 60);
}

TEST(CompletionCheckpoints, OfStructuredAtomsOfImplicitFeedback) {
  for (const double validation : {0.1, 0.0})
    expect_resumes_anywhere(
        [&](const CheckpointsPtr& checkpoints, int threads) {
          return complete_implicit(few_clicks(),
                                   {.max_rank = 6,
                                    .validation = validation,
                                    .sets = ImplicitSets{nonneg(), nonneg(), WeightRule::nonneg},
                                    .predict = {{1, 2}, {3, 4}},
                                    .threads = threads,
                                    .checkpoints = checkpoints});
        },
        expect_same_completion, 60);
}

TEST(CompletionCheckpoints, OfAnUpdateOfImplicitFeedback) {
  const CompletionResult before = complete_implicit(few_clicks(), {.max_rank = 7});
  ObservedEntries more = few_clicks();
  more.cols = 41;
  append(more, 3, 40, 2);  // a member that the model does not have
  expect_resumes_anywhere(
      [&](const CheckpointsPtr& checkpoints, int threads) {
        return complete_implicit(more, {.start = &before.model,
                                        .start_entries = &before.seen,
                                        .threads = threads,
                                        .checkpoints = checkpoints});
      },
      expect_same_completion);
}

/// A signal leaves a turn half done: what is kept is the state after the last whole one.
TEST(CompletionCheckpoints, OfImplicitFeedbackThatASignalStopsInTheMidstOfATurn) {
  ImplicitOptions options{.max_rank = 20, .predict = {{1, 2}}};
  const CompletionResult whole = complete_implicit(few_clicks(), options);
  for (const int patience : {1, 10, 40}) {
    std::atomic<int> asked = 0;
    std::vector<Snapshot> left;
    options.interrupted = [&] { return ++asked > patience; };
    options.observer = [&](const Moment&) { return asked <= patience; };
    options.checkpoints = std::make_shared<Checkpoints>(
        Checkpoints::Rhythm{}, [&](const Snapshot& snapshot) { left.push_back(snapshot); });
    EXPECT_EQ(complete_implicit(few_clicks(), options).stop, Stop::interrupted);
    EXPECT_LE(left.size(), 1U);
    options.interrupted = {};
    options.observer = {};
    options.checkpoints = left.empty() ? nullptr : going_on_from(left.front());
    expect_same_completion(whole, complete_implicit(few_clicks(), options));
  }
}

ObservedTensor array_with_gaps() {
  Random random(6);
  const Matrix a = uniform(8, 2, 7), b = uniform(7, 2, 8), c = uniform(6, 2, 9);
  ObservedTensor data{{{8, 7, 6}, std::vector<std::vector<int>>(3), {}}, {}, false};
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 7; ++j)
      for (int k = 0; k < 6; ++k) {
        if (random.uniform() < 0.3) continue;
        data.entries.index[0].push_back(i);
        data.entries.index[1].push_back(j);
        data.entries.index[2].push_back(k);
        data.entries.value.push_back(1 + (a.row(i).array() * b.row(j).array() * c.row(k).array()).sum() +
                                     0.05 * random.uniform());
      }
  return data;
}

void expect_same_array(const TensorCompletion& a, const TensorCompletion& b) {
  ASSERT_EQ(a.model.atoms.rank(), b.model.atoms.rank());
  for (Index mode = 0; mode < a.model.atoms.factors.modes(); ++mode)
    EXPECT_TRUE(same_bits(a.model.atoms.factors[mode], b.model.atoms.factors[mode])) << "mode " << mode;
  EXPECT_TRUE(same_bits(a.model.atoms.weights, b.model.atoms.weights));
  EXPECT_TRUE(same_bits(a.model.own_terms.row_offsets, b.model.own_terms.row_offsets));
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.null_objective, b.null_objective);
  EXPECT_EQ(a.regularization.spec(), b.regularization.spec());
  EXPECT_EQ(a.stop, b.stop);
  EXPECT_EQ(a.trace.size(), b.trace.size());
  ASSERT_EQ(a.path.size(), b.path.size());
  for (std::size_t k = 0; k < a.path.size(); ++k) {
    EXPECT_EQ(a.path[k].rank, b.path[k].rank);
    EXPECT_EQ(a.path[k].sweeps, b.path[k].sweeps);
    EXPECT_TRUE(a.path[k].validation == b.path[k].validation || std::isnan(a.path[k].validation));
  }
}

TEST(CompletionCheckpoints, OfArraysInEveryPassOverThem) {
  const auto auto_price = parse_regularization("auto");
  for (TensorCompletionOptions options :
       {TensorCompletionOptions{.max_rank = 4,
       .weights = WeightRule::nonneg,
       .regularization = auto_price,
       .or_none = true,
       .polish = 9,
       .validation = 0.25},
        TensorCompletionOptions{.rank = 2, .weights = WeightRule::nonneg, .offsets = true, .polish = 9},
        TensorCompletionOptions{.max_rank = 3,
        .loss = parse_loss("huber:0.1"),
        .offsets = true,
        .polish = 6,
        .validation = 0.25}}) {
    const bool parts = options.weights.kind == WeightRule::nonneg;
    const AtomSets sets = parts ? AtomSets({nonneg(), nonneg(), nonneg()}, {0, 1, 2})
                                : AtomSets({sphere(), sparse(4), sphere()}, {0, 1, 2});
    expect_resumes_anywhere(
        [&](const CheckpointsPtr& checkpoints, int threads) {
          options.checkpoints = checkpoints;
          options.threads = threads;
          return complete_tensor(array_with_gaps(), sets, options);
        },
        expect_same_array, 60);
  }
}

}  // namespace
}  // namespace pursuit
