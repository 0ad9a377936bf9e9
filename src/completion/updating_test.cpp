// Models that are continued with other entries: where nothing is new nothing changes, and what was learnt is
// kept.

#include <atomic>

#include "completion/factors_of_model.hpp"
#include "completion/test_support.hpp"

namespace pursuit {
namespace {

const Likes& likes() {
  static const Likes result(800, 500, 5, 71);
  return result;
}

/// Every `period`-th entry apart from the others.
std::pair<ObservedEntries, ObservedEntries> parted(const ObservedEntries& entries, std::size_t period) {
  ObservedEntries most{entries.rows, entries.cols, {}, {}, {}}, rest = most;
  for (std::size_t e = 0; e < entries.row.size(); ++e)
    append(e % period == 0 ? rest : most, entries.row[e], entries.col[e], entries.value[e]);
  return {most, rest};
}

double largest_change(const CompletionModel& before, const CompletionModel& after,
                      const ObservedEntries& entries) {
  const auto old = predict(before, positions_of(entries)), now = predict(after, positions_of(entries));
  double largest = 0;
  for (std::size_t k = 0; k < old.size(); ++k)
    largest = std::max(largest, std::abs(now[k].value - old[k].value) / old[k].deviation);
  return largest;
}

TEST(Updating, WithNothingNewChangesNothing) {
  for (const int samples : {0, 12}) {
    const CompletionOptions options{.samples = samples, .stored_samples = 4};
    const CompletionResult before = complete(likes().train, options);
    CompletionOptions again = options;
    again.start = &before.model;
    again.start_entries = &before.seen;
    const CompletionModel after = complete(likes().train, again).model;
    EXPECT_EQ(after.samples.size(), before.model.samples.size());
    EXPECT_LT(largest_change(before.model, after, likes().truth), 1e-3) << samples;
  }
}

CompletionModel model_of(const BayesianFactors& f) {
  CompletionModel model;
  const std::vector<int> used = used_coordinates(f);
  model.noise_variance = f.noise_variance();
  model.rows = side_of_model(f.rows(), used, true, {});
  model.cols = side_of_model(f.cols(), used, true, {});
  model.lowest = -1e6, model.highest = 1e6;
  return model;
}

TEST(Updating, SweepsOnAsIfItHadNeverBeenInterrupted) {
  const ObservedMatrix data(likes().train);
  BayesianFactors factors(data, 0, 1, true, 1, 1), again(data, 0, 1, true, 2, 1);
  factors.widen(7);
  for (int k = 0; k < 25; ++k) factors.sweep();
  again.start_from(model_of(factors), {}, {});
  for (int k = 0; k < 5; ++k) {
    factors.sweep();
    again.sweep();
  }
  const auto one = predict(model_of(factors), positions_of(likes().truth)),
             other = predict(model_of(again), positions_of(likes().truth));
  EXPECT_LT(rms_difference(one, other), 0.005);  // 0.05 where the size of what patterns say is forgotten
}

TEST(Updating, GoesOnWithWhatPatternsSay) {
  const CompletionModel before = complete(likes().train).model;
  const double error = accuracy_on(before, likes().truth).rmse;
  const CompletionModel after = complete(likes().train, {.start = &before}).model;
  EXPECT_LT(accuracy_on(after, likes().truth).rmse, 1.01 * error);
  EXPECT_EQ(after.rank(), before.rank());
  CompletionModel earlier = before;  // as models were before they kept these
  for (CompletionSide* side : {&earlier.rows, &earlier.cols}) side->pattern_variance.resize(0);
  EXPECT_LT(accuracy_on(complete(likes().train, {.start = &earlier}).model, likes().truth).rmse,
            1.01 * error);
}

TEST(Updating, WithAFewNewEntriesIsAsGoodAsStartingAgain) {
  const auto [old, fresh] = parted(likes().train, 20);
  const CompletionResult before = complete(old);
  const double again = accuracy_on(complete(likes().train).model, likes().truth).rmse,
               outdated = accuracy_on(before.model, likes().truth).rmse;
  const CompletionResult after =
      complete(likes().train, {.start = &before.model, .start_entries = &before.seen});
  EXPECT_LT(accuracy_on(after.model, likes().truth).rmse, 0.8 * again + 0.2 * outdated);
  EXPECT_LT(after.path.back().sweeps, complete(likes().train).path.back().sweeps / 2);
}

TEST(Updating, EndsAHalfDoneSweepWhenAskedTo) {
  // From the hundredth question on, which is in the middle of a sweep: the observer stops the run after it.
  std::atomic<int> questions = 0;
  CompletionOptions options{.threads = 3};
  options.interrupted = [&] { return ++questions > 100; };
  options.observer = [&](const Moment&) { return questions <= 100; };
  const CompletionResult result = complete(likes().train, options);
  EXPECT_EQ(result.stop, Stop::interrupted);
  EXPECT_TRUE(result.interrupted());
  for (const Prediction& each : predict(result.model, positions_of(likes().truth))) {
    ASSERT_TRUE(std::isfinite(each.value));
    ASSERT_TRUE(std::isfinite(each.deviation));
  }
}

TEST(Updating, StoppedAtAnyQuestionKnowsAllEntriesAndIsSound) {
  const Planted data = planted(60, 40, 2, 0.3, 0.6, 9);
  const GroupedEntries all = ObservedMatrix(data.train).take_by_row();
  int asked = 0;
  CompletionOptions options{.max_rank = 7, .predict = positions_of(data.test)};
  options.interrupted = [&] { return ++asked < 0; };
  complete(data.train, options);
  ASSERT_GT(asked, 100);
  for (int last = 1; last <= asked; last += 1 + asked / 40) {
    int questions = 0;
    options.interrupted = [&] { return ++questions >= last; };
    options.observer = [&](const Moment&) { return questions < last; };
    const CompletionResult result = complete(data.train, options);
    EXPECT_EQ(result.stop, Stop::interrupted) << last;
    EXPECT_EQ(result.seen.start, all.start) << last;
    EXPECT_EQ(result.seen.index, all.index) << last;
    EXPECT_EQ(result.seen.value, all.value) << last;
    EXPECT_TRUE(same_predictions(result.predictions, predict(result.model, options.predict))) << last;
  }
}

TEST(Updating, KeepsWhatFeaturesSay) {
  const Planted data = planted(200, 80, 2, 0.3, 0.3, 81);
  Matrix table(200, 3);
  table << 10 * data.row_factors, 0.01 * data.truth.rowwise().mean();
  const FeatureTable features = observed(table, 1, 1);
  ObservedEntries old{200, 80, {}, {}, {}}, cold = old;
  for (std::size_t e = 0; e < data.train.row.size(); ++e)
    append(data.train.row[e] < 160 ? old : cold, data.train.row[e], data.train.col[e], data.train.value[e]);
  const CompletionResult before = complete(old, {.row_features = &features});
  for (const GroupedEntries* seen : {&before.seen, static_cast<const GroupedEntries*>(nullptr)}) {
    const CompletionModel after =
        complete(old, {.row_features = &features, .start = &before.model, .start_entries = seen}).model;
    EXPECT_LT(accuracy_on(after, cold).rmse, 1.02 * accuracy_on(before.model, cold).rmse);
  }
}

}  // namespace
}  // namespace pursuit
