// Offsets that drift in time: found where they are, off where they are not, and predictions at a time.

#include "pursuit/completion/complete_in_time.hpp"

#include <cmath>
#include <numeric>

#include "completion/test_support.hpp"
#include "completion/timeline.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Entries in random order of time, from 0 to 1000; rows are in a mood that swings with a period of 400, and
/// every third column rises.
struct Moody {
  ObservedEntries train{60, 120, {}, {}, {}}, test = train;
  std::vector<double> train_times, test_times;

  explicit Moody(double swing, double rise, std::uint64_t seed = 5) {
    Random random(seed);
    const Matrix u = random.gaussian_matrix(60, 2), v = random.gaussian_matrix(120, 2);
    for (int i = 0; i < 60; ++i)
      for (int j = 0; j < 120; ++j) {
        if (random.uniform() > 0.8) continue;
        const double t = 1000 * random.uniform();
        const double drift = swing * std::sin(2 * M_PI * t / 400 + i) + (j % 3 == 0 ? rise * t / 1000 : 0);
        const bool last = random.uniform() < 0.1;
        append(last ? test : train, i, j, float(u.row(i).dot(v.row(j)) + drift + 0.2 * random.gaussian()));
        (last ? test_times : train_times).push_back(t);
      }
  }
};

CompletionResult in_time(const Moody& data, int threads = 1) {
  CompletionOptions options{.predict = positions_of(data.test)};
  options.threads = threads;
  return complete_in_time(data.train, data.train_times, options, data.test_times);
}

double error_in_time(const CompletionResult& result, const Moody& data) {
  return accuracy(result.predictions, data.test.value).rmse;
}

TEST(CompleteInTime, FollowsMoodsOfRowsAndColumns) {
  const Moody data(1, 2);
  CompletionOptions plain{.predict = positions_of(data.test)};
  const CompletionResult before = complete(data.train, plain), after = in_time(data);
  EXPECT_TRUE(after.model.drift.rows.is_on());
  EXPECT_LT(error_in_time(after, data), 0.8 * error_in_time(before, data));
  EXPECT_EQ(after.model.drift.newest, *std::max_element(data.train_times.begin(), data.train_times.end()));
}

TEST(CompleteInTime, IsThePlainModelWhereNothingDrifts) {
  for (const std::uint64_t seed : {5, 6, 7}) {
    const Moody data(0, 0, seed);
    const CompletionResult result = in_time(data);
    EXPECT_FALSE(result.model.drift.is_on()) << seed;
    EXPECT_TRUE(
        same_predictions(result.predictions, predict(complete(data.train).model, positions_of(data.test))));
  }
}

TEST(CompleteInTime, DoesNotDependOnThreads) {
  const Moody data(1, 2);
  const CompletionResult one = in_time(data);
  for (const int threads : {2, 3, 16})
    EXPECT_TRUE(same_predictions(one.predictions, in_time(data, threads).predictions));
}

TEST(CompleteInTime, AModelAtATimeIsAnOrdinaryOne) {
  const Moody data(1, 2);
  for (const int samples : {0, 12}) {
    CompletionOptions options;
    options.samples = samples;
    options.stored_samples = 3;
    const CompletionModel model = complete_in_time(data.train, data.train_times, options).model;
    ASSERT_TRUE(model.drift.is_on());
    const auto positions = positions_of(data.test);
    for (const double time : {-100.0, 333.3, 1000.0}) {
      const CompletionModel moved = at_time(model, time);
      EXPECT_FALSE(moved.drift.is_on());
      require_sound(moved);
      const auto expected = predict(model, positions, std::vector<double>(positions.size(), time));
      EXPECT_LT(rms_difference(predict(moved, positions), expected), 1e-5) << time;
    }
    const auto far = predict(at_time(model, 1e9), positions), without = predict(model, positions);
    EXPECT_TRUE(same_predictions(far, without)) << "nothing is known of a distant future";
    const CompletionModel back = transposed(at_time(transposed(model), 333.3));
    EXPECT_TRUE(same_predictions(predict(back, positions), predict(at_time(model, 333.3), positions)));
  }
}

TEST(CompleteInTime, AModelThatGoesOnKeepsTheDrift) {
  const Moody data(1, 2);
  const CompletionResult first = complete_in_time(data.train, data.train_times);
  CompletionOptions further;
  further.start = &first.model;
  const CompletionModel next = complete(data.train, further).model;
  EXPECT_EQ(next.drift.rows.sum, first.model.drift.rows.sum);
}

TEST(CompleteInTime, RefusesTimesThatMakeNoSense) {
  const Moody data(1, 2);
  std::vector<double> times = data.train_times;
  times.pop_back();
  EXPECT_THROW(complete_in_time(data.train, times), InvalidArgument);
  times.push_back(NAN);
  EXPECT_THROW(complete_in_time(data.train, times), InvalidInput);
  CompletionOptions zeros;
  zeros.loss.kind = Loss::bernoulli;
  EXPECT_THROW(complete_in_time(data.train, data.train_times, zeros), InvalidArgument);
  const CompletionModel start = complete(data.train).model;
  CompletionOptions further;
  further.start = &start;
  EXPECT_THROW(complete_in_time(data.train, data.train_times, further), InvalidArgument);
  EXPECT_THROW(predict(start, positions_of(data.test), times), InvalidArgument);
  const std::vector<double> equal(data.train_times.size(), 7.0);
  EXPECT_FALSE(complete_in_time(data.train, equal).model.drift.is_on());
}

TEST(Timeline, KnotsStandForTheEntriesAroundThem) {
  Random random(3);
  constexpr int kEntries = 500;
  std::vector<int> member(kEntries);
  std::vector<double> times(kEntries), left(kEntries);
  std::vector<float> weights(kEntries);
  for (int e = 0; e < kEntries; ++e) {
    member[e] = int(4 * random.uniform()) % 4;  // of five: the last has none
    times[e] = 100 * random.uniform();
    left[e] = random.gaussian();
    weights[e] = float(random.uniform());
  }
  for (const double reach : {0.5, 5.0, 50.0}) {
    const Timeline timeline(member, 5, times, 2);
    const DriftOf drift = timeline.drift(reach, 2, left, weights);
    for (int i = 0; i < 6; ++i)
      for (const double t : {-5.0, 0.0, 31.4, 99.0, 130.0}) {
        double sum = 0, count = 2;
        for (int e = 0; e < kEntries; ++e)
          if (member[e] == i) {
            const double near = std::exp(-std::abs(t - times[e]) / reach) * weights[e];
            sum += near * left[e];
            count += near;
          }
        EXPECT_NEAR(drift.at(i, t), sum / count, 0.03) << i << " " << t << " " << reach;
      }
    EXPECT_EQ(drift.at(-1, 3), 0);
    EXPECT_EQ(drift.at(4, 3), 0);
    std::vector<double> rest = left;
    timeline.subtract(drift, rest);
    EXPECT_LT(std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0),
              std::inner_product(left.begin(), left.end(), left.begin(), 0.0));
  }
}

}  // namespace
}  // namespace pursuit
