#include <algorithm>
#include <map>
#include <set>

#include "completion/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/evaluate.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

ObservedEntries some_ratings() {
  ObservedEntries entries = observed(gaussian(23, 17, 1), 0.4, 2);
  for (std::size_t e = 0; e < entries.value.size(); ++e) entries.value[e] = float(1 + e % 5);
  return entries;
}

std::vector<double> some_times(const ObservedEntries& entries) {
  std::vector<double> times;
  for (Index e = 0; e < entries.size(); ++e) times.push_back(double((e * 7919) % 101));
  return times;
}

using SeenPlaces = std::set<std::pair<int, int>>;

SeenPlaces places_of(const ObservedEntries& entries) {
  SeenPlaces result;
  for (std::size_t e = 0; e < entries.row.size(); ++e) result.emplace(entries.row[e], entries.col[e]);
  return result;
}

void expect_whole(const Parts& parts, const ObservedEntries& entries) {
  SeenPlaces all = places_of(parts.train);
  all.merge(places_of(parts.validation));
  all.merge(places_of(parts.test));
  EXPECT_EQ(all, places_of(entries));
  EXPECT_EQ(parts.train.size() + parts.validation.size() + parts.test.size(), entries.size());
}

std::map<std::pair<int, int>, double> times_by_place(const ObservedEntries& entries,
                                                     const std::vector<double>& times) {
  std::map<std::pair<int, int>, double> result;
  for (std::size_t e = 0; e < times.size(); ++e) result[{entries.row[e], entries.col[e]}] = times[e];
  return result;
}

TEST(Protocol, NothingInTrainingIsLaterThanAnythingTested) {
  const ObservedEntries entries = some_ratings();
  const std::vector<double> times = some_times(entries);
  auto of = times_by_place(entries, times);
  Protocol protocol;
  protocol.kind = Protocol::time;
  protocol.times = times;
  const Parts parts = parts_by(protocol, entries, 0);
  expect_whole(parts, entries);
  double last_trained = -1, first_tested = 1e9;
  for (const auto& place : places_of(parts.train)) last_trained = std::max(last_trained, of[place]);
  for (const auto& place : places_of(parts.test)) first_tested = std::min(first_tested, of[place]);
  EXPECT_LE(last_trained, first_tested);
  EXPECT_NEAR(double(parts.test.size()), 0.3 * double(entries.size()), 1);
}

TEST(Protocol, EveryRowIsSplitByItsOwnTime) {
  const ObservedEntries entries = some_ratings();
  const std::vector<double> times = some_times(entries);
  auto of = times_by_place(entries, times);
  for (const std::vector<double>& split : {std::vector<double>{0.8, 0.2}, {0.6, 0.2, 0.2}, {0.1, 0.9}}) {
    Protocol protocol;
    protocol.kind = Protocol::time_per_row;
    protocol.split = split;
    protocol.times = times;
    const Parts parts = parts_by(protocol, entries, 0);
    expect_whole(parts, entries);
    std::map<int, std::pair<double, Index>> last_trained, first_tested;
    for (const auto& place : places_of(parts.train)) {
      auto& [time, count] = last_trained.try_emplace(place.first, -1.0, 0).first->second;
      time = std::max(time, of[place]);
      ++count;
    }
    for (const auto& place : places_of(parts.test)) {
      auto& [time, count] = first_tested.try_emplace(place.first, 1e9, 0).first->second;
      time = std::min(time, of[place]);
      ++count;
    }
    for (const auto& [row, tested] : first_tested) {
      ASSERT_TRUE(last_trained.contains(row)) << "row " << row << " has no training entry";
      EXPECT_LE(last_trained[row].first, tested.first);
    }
    std::map<int, Index> all;
    for (const int i : entries.row) ++all[i];
    for (const auto& [row, count] : all)
      EXPECT_EQ(first_tested.contains(row), count > 1) << "row " << row << " of " << count;
  }
}

TEST(Protocol, OneRelevantEntryOfEveryRowIsLeftOut) {
  const ObservedEntries entries = some_ratings();
  Protocol protocol;
  protocol.kind = Protocol::leave_one_out;
  const Parts parts = parts_by(protocol, entries, 3);
  expect_whole(parts, entries);
  std::map<int, int> tested;
  for (std::size_t e = 0; e < parts.test.row.size(); ++e) {
    EXPECT_GE(parts.test.value[e], 4);
    ++tested[parts.test.row[e]];
  }
  std::map<int, std::pair<int, bool>> all;
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    ++all[entries.row[e]].first;
    all[entries.row[e]].second |= entries.value[e] >= 4;
  }
  for (const auto& [row, own] : all)
    EXPECT_EQ(tested[row], int(own.first > 1 && own.second)) << "row " << row;
  EXPECT_EQ(places_of(parts_by(protocol, entries, 3).test), places_of(parts.test));
  EXPECT_NE(places_of(parts_by(protocol, entries, 4).test), places_of(parts.test));
}

TEST(Protocol, ColdMembersAreTestedWhole) {
  const ObservedEntries entries = some_ratings();
  for (const bool rows : {true, false}) {
    Protocol protocol;
    protocol.kind = rows ? Protocol::cold_rows : Protocol::cold_columns;
    protocol.split = {0.7, 0.3};
    const Parts parts = parts_by(protocol, entries, 5);
    expect_whole(parts, entries);
    const auto members = [&](const ObservedEntries& part) {
      return rows ? std::set<int>(part.row.begin(), part.row.end())
                  : std::set<int>(part.col.begin(), part.col.end());
    };
    const std::set<int> trained = members(parts.train), tested = members(parts.test);
    for (const int member : tested) EXPECT_FALSE(trained.contains(member));
    EXPECT_EQ(Index(tested.size()), rows ? 7 : 5);  // of 23 and 17
  }
}

TEST(Protocol, RefusesWhatMakesNoSense) {
  const ObservedEntries entries = some_ratings();
  const auto message = [&](const Protocol& protocol) {
    try {
      parts_by(protocol, entries, 0);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  Protocol protocol;
  protocol.kind = Protocol::time;
  EXPECT_THAT(message(protocol), HasSubstr("times: 0 for"));
  const std::vector<double> times = some_times(entries);
  protocol.times = times;
  protocol.repeat = 2;
  EXPECT_THAT(message(protocol), HasSubstr("only one split by time"));
  protocol = {};
  protocol.kind = Protocol::cold_rows;
  protocol.folds = 3;
  EXPECT_THAT(message(protocol), HasSubstr("folds"));
  protocol = {};
  protocol.kind = Protocol::leave_one_out;
  protocol.relevant = 9;
  EXPECT_THAT(message(protocol), HasSubstr("0 to test"));
  protocol = {};
  protocol.places = 0;
  EXPECT_THAT(message(protocol), HasSubstr("places 0"));
}

TEST(Evaluate, BaselinesStandBesideMethods) {
  Protocol protocol;
  protocol.kind = Protocol::leave_one_out;
  protocol.repeat = 3;
  const auto scores = evaluate(some_ratings(), {"popularity", "offsets", "default", "implicit"}, protocol);
  ASSERT_EQ(scores.size(), 4U);
  for (const MethodScore& score : scores) {
    ASSERT_EQ(score.lists.size(), 3U) << score.method;
    ASSERT_EQ(score.values.size(), 3U);
    EXPECT_EQ(score.lists[0].places, 10);
    EXPECT_GT(score.lists[0].coverage, 0);
    EXPECT_EQ(std::isnan(score.rmse[0]), !score.has_values()) << score.method;
    EXPECT_TRUE(!score.has_values() || std::isfinite(score.values[0].log_likelihood));
  }
  EXPECT_FALSE(scores[0].has_values());
  EXPECT_TRUE(scores[1].has_values());
}

TEST(Evaluate, StandardErrors) {
  const Estimate of_three = estimate_of(std::vector<double>{1, 2, 6});
  EXPECT_DOUBLE_EQ(of_three.mean, 3);
  EXPECT_DOUBLE_EQ(of_three.error, std::sqrt(7.0 / 3));
  EXPECT_TRUE(std::isnan(estimate_of(std::vector<double>{1}).error));
}

TEST(Evaluate, LogLikelihoodsAreOfNormalDensities) {
  const std::vector<Prediction> predictions = {{1, 2}, {0, 0.5}};
  const std::vector<float> values = {2, 0};
  const double tau = std::log(2 * 3.14159265358979323846) / 2;
  EXPECT_NEAR(accuracy(predictions, values).log_likelihood,
              ((-0.125 - std::log(2.0) - tau) + (-std::log(0.5) - tau)) / 2, 1e-12);
}

}  // namespace
}  // namespace pursuit
