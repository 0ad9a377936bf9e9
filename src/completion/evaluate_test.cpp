#include "pursuit/completion/evaluate.hpp"

#include <map>

#include "completion/test_support.hpp"
#include "pursuit/completion/split.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;
using Pairs = std::map<std::pair<int, int>, float>;

Pairs pairs_of(const std::vector<ObservedEntries>& parts) {
  Pairs result;
  for (const ObservedEntries& part : parts)
    for (std::size_t e = 0; e < part.row.size(); ++e) {
      const bool added = result.emplace(std::pair(part.row[e], part.col[e]), part.value[e]).second;
      EXPECT_TRUE(added) << "an entry is in two parts";
    }
  return result;
}

TEST(Split, CutsIntoDisjointPartsOfTheGivenSizes) {
  const ObservedEntries entries = observed(gaussian(30, 20, 1), 0.5, 2);
  const Index n = entries.size();
  for (const std::vector<Index>& sizes :
       {std::vector<Index>{n - 70, 50, 20}, {n}, {0, n}, {n, 0}, {1, 1, n - 2}}) {
    const auto parts = split(entries, sizes, 3);
    ASSERT_EQ(parts.size(), sizes.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      EXPECT_EQ(parts[p].size(), sizes[p]);
      EXPECT_EQ(parts[p].rows, 30);
      EXPECT_EQ(parts[p].cols, 20);
    }
    EXPECT_EQ(pairs_of(parts), pairs_of({entries}));
  }
}

TEST(Split, FollowsItsSeed) {
  const ObservedEntries entries = observed(gaussian(30, 20, 1), 0.5, 2);
  const std::vector<Index> sizes{entries.size() - 100, 100};
  const Pairs one = pairs_of({split(entries, sizes, 3)[1]});
  EXPECT_EQ(pairs_of({split(entries, sizes, 3)[1]}), one);
  EXPECT_NE(pairs_of({split(entries, sizes, 4)[1]}), one);
}

TEST(Split, TakesEveryEntryWithTheSameChance) {
  const ObservedEntries entries = observed(gaussian(10, 5, 1), 1, 2);
  Matrix times = Matrix::Zero(10, 5);
  constexpr int kSplits = 2000;
  for (std::uint64_t seed = 0; seed < kSplits; ++seed) {
    const ObservedEntries part = split(entries, {40, 10}, seed)[1];
    for (std::size_t e = 0; e < part.row.size(); ++e) ++times(part.row[e], part.col[e]);
  }
  const double expected = kSplits * 0.2, deviation = std::sqrt(kSplits * 0.2 * 0.8);
  EXPECT_GT(times.minCoeff(), expected - 4.5 * deviation);
  EXPECT_LT(times.maxCoeff(), expected + 4.5 * deviation);
}

TEST(Split, DependsOnPositionsAloneNotOnTheirOrderOrThreads) {
  const ObservedEntries entries = observed(gaussian(400, 300, 1), 0.6, 2);  // more than one task
  ObservedEntries shuffled{entries.rows, entries.cols, {}, {}, {}};
  for (Index step = 0, e = 0; step < entries.size(); ++step, e = (e + 100003) % entries.size())
    append(shuffled, entries.row[e], entries.col[e], entries.value[e]);
  ASSERT_EQ(pairs_of({shuffled}), pairs_of({entries}));
  const std::vector<Index> sizes{entries.size() - 10100, 10000, 100};
  const auto one = split(entries, sizes, 3), other = split(shuffled, sizes, 3);
  for (std::size_t p = 0; p < sizes.size(); ++p) EXPECT_EQ(pairs_of({other[p]}), pairs_of({one[p]}));
  ObservedEntries kept = entries, kept_too = shuffled;
  EXPECT_EQ(pairs_of({hold_back(kept, 0.1, 3)}), pairs_of({hold_back(kept_too, 0.1, 3)}));
  for (const int threads : {2, 3, 16}) {
    EXPECT_EQ(split(entries, sizes, 3, threads)[1].value, one[1].value);
    ObservedEntries again = entries;
    hold_back(again, 0.1, 3, threads);
    EXPECT_EQ(again.value, kept.value);
  }
}

TEST(FoldSizes, AreAsEqualAsCanBe) {
  for (const auto& [count, folds] : {std::pair<Index, int>{10, 3}, {9, 3}, {7, 7}, {1000003, 10}}) {
    const auto sizes = fold_sizes(count, folds);
    ASSERT_EQ(Index(sizes.size()), folds);
    Index sum = 0;
    for (const Index size : sizes) {
      sum += size;
      EXPECT_TRUE(size == count / folds || size == count / folds + 1) << size;
    }
    EXPECT_EQ(sum, count);
  }
}

TEST(FoldSizes, TestEveryEntryOnce) {
  const ObservedEntries entries = observed(gaussian(20, 13, 1), 0.7, 2);
  EXPECT_EQ(pairs_of(split(entries, fold_sizes(entries.size(), 5), 3)), pairs_of({entries}));
}

TEST(HoldBack, TakesAShareAndPutsItBack) {
  const ObservedEntries entries = observed(gaussian(60, 40, 1), 0.5, 2);
  ObservedEntries kept = entries;
  const ObservedEntries held = hold_back(kept, 0.1, 3);
  EXPECT_EQ(held.size(), Index(0.1 * double(entries.size())));
  EXPECT_EQ(pairs_of({kept, held}), pairs_of({entries}));
  put_back(kept, held);
  EXPECT_EQ(pairs_of({kept}), pairs_of({entries}));
}

TEST(HoldBack, TakesNothingWhereThereIsTooLittleAndNeverTooMuch) {
  ObservedEntries few = observed(gaussian(20, 20, 1), 1, 2);
  EXPECT_EQ(hold_back(few, 0.1, 3).size(), 0) << "40 entries say nothing";
  EXPECT_EQ(few.size(), 400);
  EXPECT_EQ(hold_back(few, 0, 3).size(), 0);
  ObservedEntries many = observed(Matrix::Zero(600, 600), 1, 2);
  EXPECT_EQ(hold_back(many, 0.5, 3).size(), 30000);
  EXPECT_EQ(many.size(), 600 * 600 - 30000);
}

/// Small and easy: what is tested here is the protocol.
const ObservedEntries& small() {
  static const ObservedEntries entries = planted(40, 30, 1, 0.3, 0.9, 121).train;
  return entries;
}

TEST(Evaluate, GivesOneScorePerMethodAndSplit) {
  Protocol protocol;
  protocol.repeat = 2;
  const std::vector<std::string> methods{"default", "or1mp", "or1mp-economic", "gmpr", "gmpr-sparse"};
  std::vector<double> shares;
  const auto scores = evaluate(small(), methods, protocol, [&](double share, const std::string& what) {
    if (what.find(" RMSE ") != std::string::npos) {  // a run is done
      EXPECT_THAT(what, HasSubstr(methods[shares.size() % methods.size()] + " RMSE"));
      shares.push_back(share);
    }
    return true;
  });
  ASSERT_EQ(scores.size(), methods.size());
  for (std::size_t k = 0; k < methods.size(); ++k) {
    EXPECT_EQ(scores[k].method, methods[k]);
    ASSERT_EQ(scores[k].rmse.size(), 2U) << methods[k];
    EXPECT_EQ(scores[k].mae.size(), 2U);
    EXPECT_EQ(scores[k].seconds.size(), 2U);
    EXPECT_NE(scores[k].rmse[0], scores[k].rmse[1]) << methods[k] << ": another split, another error";
    EXPECT_LT(scores[k].mae[0], scores[k].rmse[0]);
    EXPECT_GT(scores[k].variance_of_rmse(), 0);
  }
  EXPECT_LT(scores[0].mean_rmse(), 0.45) << "the noise is 0.3";
  EXPECT_EQ(shares.size(), 10U);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
}

TEST(Evaluate, FollowsItsSeedAndNotTheThreads) {
  Protocol protocol;
  protocol.split = {0.8, 0.2};
  protocol.seed = 5;
  const auto rmse = [&] { return evaluate(small(), {"default"}, protocol)[0].rmse; };
  const auto one = rmse();
  protocol.threads = 2;
  EXPECT_EQ(rmse(), one);
  protocol.seed = 6;
  EXPECT_NE(rmse(), one);
}

TEST(Evaluate, TestsEveryFold) {
  Protocol protocol;
  protocol.folds = 4;
  protocol.repeat = 2;
  const auto scores = evaluate(small(), {"or1mp"}, protocol);
  ASSERT_EQ(scores[0].rmse.size(), 8U);
  for (const double rmse : scores[0].rmse) EXPECT_TRUE(rmse > 0 && rmse < 3) << rmse;
}

TEST(Evaluate, ReturnsWhatThereIsWhenItIsStopped) {
  Protocol protocol;
  protocol.repeat = 3;
  const auto scores = evaluate(small(), {"or1mp", "gmpr"}, protocol, [](double share, const std::string&) {
    return share < 0.5;  // the third of six runs
  });
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[0].rmse.size(), 2U);
  EXPECT_EQ(scores[1].rmse.size(), 1U);
}

TEST(Evaluate, RefusesWrongProtocolsAndMethods) {
  const auto refusal = [](const Protocol& protocol, const std::string& method = "or1mp") {
    return message_of<InvalidArgument>([&] { evaluate(small(), {method}, protocol); });
  };
  EXPECT_THAT(refusal({.split = {1}}), HasSubstr("1 parts; must be two"));
  EXPECT_THAT(refusal({.split = {0.4, 0.2, 0.2, 0.2}}), HasSubstr("4 parts"));
  EXPECT_THAT(refusal({.split = {0.5, 0.4}}), HasSubstr("sum to 0.9, must be 1"));
  EXPECT_THAT(refusal({.split = {1.2, -0.2}}), HasSubstr("-0.2"));
  EXPECT_THAT(refusal({.split = {0.9999, 0.0001}}), HasSubstr("is empty"));
  EXPECT_THAT(refusal({.repeat = 0}), HasSubstr("repeat 0: must be 1 or more"));
  EXPECT_THAT(refusal({.folds = 1}), HasSubstr("folds 1: must be 2 to"));
  EXPECT_THAT(refusal({.folds = -3}), HasSubstr("folds -3"));
  EXPECT_THAT(refusal({.folds = 100000}), HasSubstr("the number of entries"));
  EXPECT_THAT(refusal({}, "svd++"), AllOf(HasSubstr("svd++"), HasSubstr("or1mp-economic"), HasSubstr("high")))
      << "all that is allowed is named";
}

TEST(MethodScore, SumsUp) {
  const MethodScore score{"m", {1, 3}, {1, 1}, {2, 4}};
  EXPECT_EQ(score.mean_rmse(), 2);
  EXPECT_EQ(score.variance_of_rmse(), 2);
  EXPECT_EQ(score.mean_seconds(), 3);
  EXPECT_EQ((MethodScore{"m", {1}, {1}, {1}}).variance_of_rmse(), 0);
}

TEST(Evaluate, EndsWithinAStepOfAnyMethod) {
  for (const char* method : {"or1mp", "gmpr", "default", "high"}) {
    int calls = 0;
    const auto scores = evaluate(planted_rank_three().train, {method}, {.split = {0.8, 0.2}},
                                 [&](double share, const std::string& what) {
                                   EXPECT_EQ(share, 0) << "no run is done";
                                   EXPECT_THAT(what, testing::HasSubstr(method));
                                   return ++calls < 3;
                                 });
    EXPECT_EQ(calls, 3) << method;
    ASSERT_EQ(scores.size(), 1U);
    EXPECT_TRUE(scores[0].rmse.empty()) << "half a run is no score";
  }
}

}  // namespace
}  // namespace pursuit
