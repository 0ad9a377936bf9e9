#include "pursuit/completion/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

TEST(Ranking, MeasuresByHand) {
  // Row 0: relevant 1 and 4, in places 2 and 3. Row 1: nothing relevant, so that its list does not count. Row
  // 2: relevant 0, and a column that no list can hold; in place 1. Row 3: relevant 5, not listed.
  const RankingScore score =
      ranking_score({{3, 1, 4}, {2, 0, 1}, {0, 3, 2}, {3, 0, 1}}, {{4, 1}, {}, {-1, 0}, {5}}, 6, 3);
  EXPECT_EQ(score.rows, 3);
  const double second = 1 / std::log2(3.0), third = 1 / std::log2(4.0);
  EXPECT_NEAR(score.ndcg, ((second + third) / (1 + second) + 1 / (1 + second) + 0) / 3, 1e-12);
  EXPECT_NEAR(score.recall, (1 + 0.5 + 0) / 3, 1e-12);
  EXPECT_NEAR(score.map, ((1 / 2.0 + 2 / 3.0) / 2 + 1 / 2.0 + 0) / 3, 1e-12);
  EXPECT_NEAR(score.coverage, 5 / 6.0, 1e-12);  // columns 0 to 4
}

TEST(Ranking, MoreRelevantColumnsThanPlaces) {
  const RankingScore score = ranking_score({{0, 1}}, {{0, 1, 2, 3}}, 8, 2);
  EXPECT_DOUBLE_EQ(score.ndcg, 1);
  EXPECT_DOUBLE_EQ(score.recall, 0.5);
  EXPECT_DOUBLE_EQ(score.map, 1);
  EXPECT_DOUBLE_EQ(score.coverage, 0.25);
}

TEST(Ranking, ListsOfAModelLeaveOutWhatWasSeen) {
  CompletionModel model;
  model.rows = plain_side(2);
  model.cols = plain_side(4);
  for (int j = 0; j < 4; ++j) model.cols.mean(j, 0) = float(4 - j);  // columns in order
  model.lowest = -10, model.highest = 10;
  const GroupedEntries seen{{0, 1, 1}, {0}, {5}};  // row 0 has seen column 0
  const ObservedEntries test{2, 4, {0, 0, 1, -1}, {1, 3, 3, 0}, {5, 2, 4, 5}};
  const RankingScore score = ranking_score(model, seen, test, 4, 2);  // (0, 1) and (1, 3) are relevant
  EXPECT_EQ(score.rows, 2);
  EXPECT_DOUBLE_EQ(score.recall, 0.5);  // row 0 gets columns 1, 2; row 1 gets 0, 1
  EXPECT_DOUBLE_EQ(score.ndcg, 0.5);
  EXPECT_DOUBLE_EQ(score.coverage, 0.75);
  EXPECT_THROW(ranking_score(model, seen, test, 4, 0), InvalidArgument);
}

TEST(Ranking, WhatIsRelevantByItself) {
  EXPECT_DOUBLE_EQ(relevant_from({1, 3, {0, 0, 0}, {0, 1, 2}, {1, 5, 2}}), 4);
  EXPECT_DOUBLE_EQ(relevant_from({1, 2, {0, 0}, {0, 1}, {1, 1}}), 1);
}

}  // namespace
}  // namespace pursuit
