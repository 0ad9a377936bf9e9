#include "pursuit/algorithms/path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pursuit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Path, IsTheLastStepAtEveryRank) {
  EXPECT_THAT(path_steps({}), IsEmpty());
  EXPECT_THAT(path_steps(std::vector<Index>{1, 2, 2, 3}), ElementsAre(0, 2, 3));
}

TEST(Path, LeavesOutRanksThatTheRunWentBackFrom) {
  EXPECT_THAT(path_steps(std::vector<Index>{1, 2, 3, 2}), ElementsAre(0, 3));
  EXPECT_THAT(path_steps(std::vector<Index>{1, 2, 3, 1, 2}), ElementsAre(3, 4));
}

TEST(Path, HasTheStepsThemselves) {
  Trace trace(4);
  trace[0].rank = 1, trace[1].rank = 2, trace[2].rank = 3, trace[3].rank = 2;
  for (std::size_t k = 0; k < trace.size(); ++k) trace[k].relative_error = 1 / double(k + 1);
  const Trace path = path_by_rank(trace);
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].relative_error, 1);
  EXPECT_EQ(path[1].rank, 2);
  EXPECT_EQ(path[1].relative_error, 0.25);
}

}  // namespace
}  // namespace pursuit
