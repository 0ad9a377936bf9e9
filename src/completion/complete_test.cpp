// Completion as a whole, on matrices whose missing entries are known.

#include "pursuit/completion/complete.hpp"

#include <set>

#include "completion/test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

constexpr double kNoise = 0.3;  // of planted_rank_three()

const CompletionResult& completed() {
  static const CompletionResult result = complete(planted_rank_three().train);
  return result;
}

bool all_finite(std::span<const Prediction> predictions) {
  return std::all_of(predictions.begin(), predictions.end(), [](const Prediction& p) {
    return std::isfinite(p.value) && std::isfinite(p.deviation) && p.deviation >= 0;
  });
}

std::vector<Position> everywhere(Index rows, Index cols) {
  std::vector<Position> result;
  for (int i = -1; i < rows; ++i)
    for (int j = -1; j < cols; ++j) result.push_back({i, j});
  return result;
}

/// The entries of rows first .. last - 1.
ObservedEntries rows_of(const ObservedEntries& entries, int first, int last) {
  ObservedEntries result{entries.rows, entries.cols, {}, {}, {}};
  for (std::size_t e = 0; e < entries.row.size(); ++e)
    if (entries.row[e] >= first && entries.row[e] < last)
      append(result, entries.row[e], entries.col[e], entries.value[e]);
  return result;
}

TEST(Complete, FindsPlantedRankNoiseAndEntries) {
  const Planted& data = planted_rank_three();
  const CompletionResult& result = completed();
  EXPECT_EQ(result.model.rank(), 3);
  EXPECT_NEAR(result.model.noise(), kNoise, 0.1 * kNoise);
  const Accuracy got = accuracy_on(result.model, data.test);
  EXPECT_LT(got.rmse, 1.15 * kNoise);
  const CompletionModel offsets = complete(data.train, {.max_rank = 0}).model;
  EXPECT_EQ(offsets.rank(), 0);
  EXPECT_LT(got.rmse, 0.3 * accuracy_on(offsets, data.test).rmse);
  EXPECT_FALSE(result.interrupted());
  ASSERT_FALSE(result.path.empty());
  EXPECT_EQ(result.path.back().rank, 3);
  EXPECT_NEAR(result.path.back().noise, result.model.noise(), 1e-9);
}

TEST(Complete, SaysWhyItEnded) {
  const ObservedEntries& train = planted_rank_three().train;
  EXPECT_EQ(completed().stop, Stop::no_gain);
  EXPECT_EQ(complete(train, {.max_rank = 2}).stop, Stop::rank_reached);
  EXPECT_EQ(complete(train, {.validation = 0}).stop, Stop::all_sweeps);
  EXPECT_EQ(complete(train, {.time_limit = 1e-9}).stop, Stop::time_limit);
  CompletionOptions stopped;
  stopped.observer = [](const Moment&) { return false; };
  EXPECT_EQ(complete(train, stopped).stop, Stop::interrupted);
}

TEST(Complete, RefusesMoreDrawsThanItCanCount) {
  for (const int samples : {-1, kMostSamples + 1, std::numeric_limits<int>::max()})
    EXPECT_THAT(
        message_of<InvalidArgument>([&] { complete(planted_rank_three().train, {.samples = samples}); }),
        HasSubstr(fmt::format("samples {}: must be 0 to", samples)));
}

TEST(Complete, TakesAnyRankForALimit) {
  EXPECT_EQ(complete(planted_rank_three().train, {.max_rank = Index(1) << 32}).model.rank(), 3);
}

TEST(Complete, GivesTheEntriesBackByRow) {
  const GroupedEntries expected = std::move(ObservedMatrix(planted_rank_three().train)).take_by_row();
  EXPECT_EQ(completed().seen.start, expected.start);
  EXPECT_EQ(completed().seen.index, expected.index);
  EXPECT_EQ(completed().seen.value, expected.value);
}

TEST(Complete, KnowsHowSureItIs) {
  const Accuracy got = accuracy_on(completed().model, planted_rank_three().test);
  EXPECT_NEAR(got.inside_50, 0.50, 0.05);
  EXPECT_NEAR(got.inside_80, 0.80, 0.05);
  EXPECT_NEAR(got.inside_95, 0.95, 0.05);
}

TEST(Complete, FollowsScaleAndShiftOfTheData) {
  const Planted& data = planted_rank_three();
  const auto at = positions_of(data.test);
  const auto plain = predict(completed().model, at);
  for (const auto& [scale, shift] : {std::pair{1000.0, -500.0}, {1e-3, 0.0}, {1.0, 100.0}}) {
    ObservedEntries entries = data.train;
    for (float& v : entries.value) v = float(scale * v + shift);
    const CompletionModel model = complete(entries).model;
    EXPECT_EQ(model.rank(), completed().model.rank());
    auto back = predict(model, at);
    for (Prediction& p : back) p = {(p.value - shift) / scale, p.deviation / scale};
    EXPECT_LT(rms_difference(back, plain), 0.1 * kNoise) << scale << ", " << shift;
    EXPECT_NEAR(model.noise() / scale, completed().model.noise(), 0.02 * kNoise);
  }
}

TEST(Complete, OfEqualValuesIsThatValue) {
  for (const float value : {0.0F, 3.5F, -1e6F})
    for (const int samples : {0, 5}) {
      ObservedEntries entries = observed(Matrix::Constant(40, 30, value), 0.5, 1);
      const auto got = predict(complete(entries, {.samples = samples}).model, everywhere(40, 30));
      EXPECT_TRUE(all_finite(got));
      for (const Prediction& p : got) ASSERT_EQ(p.value, value);
    }
}

TEST(Complete, OfOneRowOrOneColumnOrOneEntryIsFinite) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 80}, {80, 1}, {1, 700}, {1, 1}, {2, 2}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
    const Matrix Y = gaussian(rows, cols, 3).array() + 5;
    for (const int samples : {0, 5}) {
      const CompletionModel model = complete(observed(Y, 1, 1), {.samples = samples}).model;
      const auto got = predict(model, everywhere(rows, cols));
      EXPECT_TRUE(all_finite(got));
      for (const Prediction& p : got) {
        ASSERT_GE(p.value, model.lowest);
        ASSERT_LE(p.value, model.highest);
      }
    }
  }
}

TEST(Complete, OfMembersWithoutEntriesIsSensible) {
  const Planted data = planted(60, 50, 1, 0.1, 0.5, 21);
  ObservedEntries entries{60, 50, {}, {}, {}};
  for (std::size_t e = 0; e < data.train.row.size(); ++e)
    if (data.train.row[e] != 17 && data.train.col[e] != 5)
      append(entries, data.train.row[e], data.train.col[e], data.train.value[e]);
  const CompletionModel model = complete(entries).model;
  EXPECT_TRUE(all_finite(predict(model, everywhere(60, 50))));
  for (int j = 0; j < 50; ++j)  // nothing is known of the row but that it is one of these rows
    EXPECT_NEAR(predict(model, {17, j}).value, predict(model, {-1, j}).value, 0.05);
  for (int i = 0; i < 60; ++i) EXPECT_NEAR(predict(model, {i, 5}).value, predict(model, {i, -1}).value, 0.05);
  EXPECT_GT(predict(model, {17, 0}).deviation, predict(model, {18, 0}).deviation);
}

TEST(Complete, GivesTheSameBitsForAnyNumberOfThreadsAndForTheSameSeed) {
  const Planted data = planted(400, 300, 2, kNoise, 0.2, 51);
  CompletionOptions options{
      .max_rank = 15, .samples = 4, .stored_samples = 2, .predict = positions_of(data.test), .seed = 5};
  const CompletionResult one = complete(data.train, options);
  EXPECT_EQ(one.model.samples.size(), 2U);
  for (const int threads : {1, 2, 4}) {
    options.threads = threads;
    const CompletionResult again = complete(data.train, options);
    EXPECT_TRUE(same_predictions(again.predictions, one.predictions)) << threads;
    EXPECT_TRUE(
        same_predictions(predict(again.model, options.predict, threads), predict(one.model, options.predict)))
        << threads;
    EXPECT_EQ(again.model.rows.mean, one.model.rows.mean) << "before any draw, " << threads;
    EXPECT_EQ(again.model.cols.variance, one.model.cols.variance) << "before any draw, " << threads;
  }
  options.threads = 1;
  options.seed = 6;
  EXPECT_FALSE(same_predictions(complete(data.train, options).predictions, one.predictions));
}

TEST(Complete, ByAveragingDrawsIsAsAccurateAsByMeans) {
  const Planted& data = planted_rank_three();
  const CompletionResult sampled =
      complete(data.train, {.samples = 60, .stored_samples = 20, .predict = positions_of(data.test)});
  const double means = accuracy_on(completed().model, data.test).rmse;
  const Accuracy averaged = accuracy(sampled.predictions, data.test.value);
  EXPECT_LT(averaged.rmse, 1.02 * means);
  EXPECT_NEAR(averaged.inside_80, 0.80, 0.05);
  EXPECT_EQ(sampled.model.samples.size(), 20U);
  const CompletionResult few =
      complete(data.train, {.samples = 60, .stored_samples = 3, .predict = positions_of(data.test)});
  EXPECT_EQ(values_of(few.predictions), values_of(sampled.predictions)) << "all draws, however many are kept";
  EXPECT_TRUE(same_predictions(predict(sampled.model, positions_of(data.test)), sampled.predictions))
      << "what is told is what the model serves";
  EXPECT_LT(accuracy_on(sampled.model, data.test).rmse, 1.05 * means) << "from the draws that were kept";
}

TEST(DrawsForHighEffort, AreMoreForFewerEntries) {
  EXPECT_NEAR(draws_for_high_effort(1000000), 200, 50);
  int last = std::numeric_limits<int>::max();
  for (const Index entries : {Index(1), Index(1000), Index(100000), Index(1000000), Index(1) << 40}) {
    const int draws = draws_for_high_effort(entries);
    EXPECT_GE(draws, 1);
    EXPECT_LE(draws, last);
    last = draws;
  }
}

TEST(Complete, LearnsFromWhichEntriesWereSeen) {
  // Every row has five entries or so, in columns it likes: these say as much of it as the noisy values do.
  const Index rows = 1500, cols = 100;
  const Matrix u = gaussian(rows, 1, 1), v = gaussian(cols, 1, 2), noise = gaussian(rows, cols, 3),
               liked = gaussian(cols, 1, 5);
  Random random(4);
  ObservedEntries train{rows, cols, {}, {}, {}}, truth = train;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      append(truth, i, j, float(u(i) * v(j)));
      if (random.uniform() < 0.1 / (1 + std::exp(liked(j) > 0 ? -2 * u(i) : 2 * u(i))))
        append(train, i, j, float(u(i) * v(j) + noise(i, j)));
    }
  const auto error = [&](bool use_pattern) {
    return accuracy_on(complete(train, {.max_rank = 1, .use_pattern = use_pattern}).model, truth).rmse;
  };
  EXPECT_LT(error(true), 0.85 * error(false));
}

TEST(Complete, PredictsRowsThatWereNeverSeenByTheirFeatures) {
  const Planted data = planted(200, 80, 2, 0.3, 0.4, 31);
  const ObservedEntries train = rows_of(data.train, 0, 160), test = rows_of(data.test, 160, 200);
  // The factors themselves, and the offset of the row, in units of their own.
  Matrix table(200, 3);
  table << 10 * data.row_factors, 0.01 * data.truth.rowwise().mean();
  const FeatureTable features = observed(table, 1, 1);
  const double without = accuracy_on(complete(train).model, test).rmse;
  const CompletionModel model = complete(train, {.row_features = &features}).model;
  EXPECT_LT(accuracy_on(model, test).rmse, 0.4 * without);
  EXPECT_EQ(model.rows.features.rows(), 3);
  const CompletionModel transposed = [&] {
    ObservedEntries flipped = train;
    std::swap(flipped.row, flipped.col);
    std::swap(flipped.rows, flipped.cols);
    return complete(flipped, {.col_features = &features}).model;
  }();
  ObservedEntries flipped = test;
  std::swap(flipped.row, flipped.col);
  EXPECT_LT(accuracy_on(transposed, flipped).rmse, 0.4 * without);
}

TEST(Complete, TakesUpAnEarlierModelForNewRows) {
  const Planted& data = planted_rank_three();
  ObservedEntries old = rows_of(data.train, 0, 180);
  old.rows = 180;
  const CompletionModel before = complete(old).model;
  const CompletionResult after = complete(data.train, {.start = &before});
  EXPECT_EQ(after.model.rows.size(), 200);
  EXPECT_LT(accuracy_on(after.model, rows_of(data.test, 180, 200)).rmse, 1.3 * kNoise);
  const auto known = positions_of(rows_of(data.test, 0, 180));
  EXPECT_LT(rms_difference(predict(after.model, known), predict(before, known)), 0.3 * kNoise);
  EXPECT_EQ(after.model.mean, before.mean);
  EXPECT_EQ(after.model.scale, before.scale);
}

TEST(Complete, RefusesAnEarlierModelThatDoesNotFit) {
  const Planted data = planted(30, 20, 1, 0.1, 0.5, 41), wider = planted(31, 21, 1, 0.1, 0.5, 41);
  const CompletionModel larger = complete(wider.train).model;
  EXPECT_THAT(message_of<InvalidArgument>([&] { complete(data.train, {.start = &larger}); }),
              HasSubstr("start"));
}

TEST(Complete, StoppedEarlyKeepsWhatThereIs) {
  const Planted& data = planted_rank_three();
  const auto at = positions_of(data.test);
  CompletionOptions options{.samples = 50, .predict = at};
  options.time_limit = 1e-9;
  const CompletionResult out_of_time = complete(data.train, options);
  EXPECT_TRUE(out_of_time.interrupted());
  EXPECT_TRUE(all_finite(out_of_time.predictions));
  EXPECT_EQ(out_of_time.predictions.size(), at.size());
  EXPECT_TRUE(out_of_time.model.samples.empty());

  options.time_limit = std::numeric_limits<double>::infinity();
  using Phase = Moment::Phase;
  for (const Phase phase : {Phase::growing, Phase::refining, Phase::sampling}) {
    std::set<Phase> phases;
    int after = 0;
    options.observer = [&](const Moment& moment) {
      phases.insert(moment.phase);
      after += moment.phase == phase;
      EXPECT_GE(moment.sweep, 1);
      EXPECT_LE(moment.sweep, moment.max_sweeps);
      return !(moment.phase == phase && moment.sweep == 2);
    };
    const CompletionResult stopped = complete(data.train, options);
    EXPECT_TRUE(stopped.interrupted());
    EXPECT_EQ(after, 2) << "asked no more after it said stop";
    EXPECT_EQ(*phases.rbegin(), phase);
    EXPECT_TRUE(all_finite(stopped.predictions));
    EXPECT_TRUE(all_finite(predict(stopped.model, at)));
  }
}

TEST(Complete, RefusesOptionsThatMakeNoSense) {
  const auto refusal = [](const CompletionOptions& options) {
    return message_of<InvalidArgument>([&] { complete(planted_rank_three().train, options); });
  };
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal({.max_rank = -1}), HasSubstr("max_rank -1: must be 0 (offsets only) or more"));
  for (const double share : {-0.1, 1.0, nan})
    EXPECT_THAT(refusal({.validation = share}), HasSubstr("validation"));
  EXPECT_THAT(refusal({.validation = 1.5}), HasSubstr("validation 1.5: must be at least 0 and below 1"));
  EXPECT_THAT(refusal({.samples = -2}), HasSubstr("samples -2: must be 0 to"));
  EXPECT_THAT(refusal({.stored_samples = -3}), HasSubstr("stored_samples -3: must be 0 to"));
  EXPECT_THAT(refusal({.range = Range{2, 1}}), AllOf(HasSubstr("range"), HasSubstr("2"), HasSubstr("1")));
  EXPECT_THAT(refusal({.threads = -4}), HasSubstr("threads -4: must be 0 (all cores) or more"));
  for (const double limit : {0.0, -1.0, nan})
    EXPECT_THAT(refusal({.time_limit = limit}), HasSubstr("time_limit"));
}

TEST(Complete, RefusesEntriesThatMakeNoSenseAndNamesThem) {
  const auto refusal = [](const ObservedEntries& entries) {
    return message_of<InvalidInput>([&] { complete(entries); });
  };
  EXPECT_THAT(refusal({3, 3, {}, {}, {}}), HasSubstr("there are none"));
  ObservedEntries small = planted(20, 10, 1, 0.1, 0.5, 1).train, entries = small;
  entries.value[33] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refusal(entries), HasSubstr("entry 33"));
  entries = small;
  entries.row[44] = 20;
  EXPECT_THAT(refusal(entries), HasSubstr("entry 44"));
  entries = small;
  append(entries, small.row[7], small.col[7], 1);
  EXPECT_THAT(refusal(entries), HasSubstr("observed twice"));
  // Whether they would have been held back or not.
  for (const std::size_t e : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U}) {
    entries = planted_rank_three().train;
    entries.col[e] = 150;
    EXPECT_THAT(refusal(entries), HasSubstr("entry " + std::to_string(e) + ":"));
  }
  const FeatureTable features = observed(gaussian(21, 2, 1), 1, 1);
  EXPECT_THAT(message_of<InvalidInput>([&] { complete(small, {.row_features = &features}); }),
              HasSubstr("row features: 21 members, but the matrix has 20"));
}

TEST(Predict, OfUnknownMembersIsTheirPriorMean) {
  const CompletionModel& model = completed().model;
  const Index rank = model.rank();
  const auto expected = [&](const auto& u, const auto& v) {
    const double sum = double(u[0]) + v[0] + u.tail(rank).dot(v.tail(rank));
    return std::clamp(model.mean + model.scale * sum, model.lowest, model.highest);
  };
  const Eigen::VectorXf& row = model.rows.intercept;
  const Eigen::VectorXf& col = model.cols.intercept;
  EXPECT_NEAR(predict(model, {-1, -1}).value, expected(row, col), 1e-5);
  EXPECT_NEAR(predict(model, {-1, 7}).value,
              expected(row, Eigen::VectorXf(model.cols.mean.row(7))) + model.scale * model.cols.selection[7],
              1e-5);
  EXPECT_NEAR(predict(model, {7, -1}).value,
              expected(Eigen::VectorXf(model.rows.mean.row(7)), col) + model.scale * model.rows.selection[7],
              1e-5);
  EXPECT_GT(predict(model, {-1, -1}).deviation, predict(model, {7, 7}).deviation);
}

TEST(Accuracy, IsWhatItSays) {
  const std::vector<Prediction> predictions{{1, 1}, {2, 1}, {3, 2}, {4, 1}};
  const Accuracy got = accuracy(predictions, std::vector<float>{1.5, 3, 0, 1});  // 0.5, 1, 1.5, 3 deviations
  EXPECT_EQ(got.count, 4);
  EXPECT_NEAR(got.rmse, std::sqrt((0.25 + 1 + 9 + 9) / 4), 1e-12);
  EXPECT_NEAR(got.mae, (0.5 + 1 + 3 + 3) / 4, 1e-12);
  EXPECT_EQ(got.inside_50, 0.25);
  EXPECT_EQ(got.inside_80, 0.5);
  EXPECT_EQ(got.inside_95, 0.75);
  EXPECT_EQ(accuracy(std::vector<Prediction>(), std::vector<float>()).count, 0);
  const Accuracy certain = accuracy(std::vector<Prediction>{{3, 0}, {3, 0}}, std::vector<float>{3, 4});
  EXPECT_EQ(certain.inside_50, 0.5) << "what was certain and right lies inside";
}

}  // namespace
}  // namespace pursuit
