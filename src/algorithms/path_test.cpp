#include "pursuit/algorithms/path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pursuit/algorithms/factor.hpp"
#include "test_support.hpp"

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

TEST(Path, SaysHowFarFromSettledARankWasLeft) {
  const Matrix W = gaussian(80, 3, 1).cwiseAbs(), H = gaussian(50, 3, 2).cwiseAbs();
  const Matrix Y = (W * H.transpose() + 0.05 * gaussian(80, 50, 3)).cwiseMax(0);
  const auto fit = [&](Index rank, int corrections) {
    return factor(Y, {.rank = rank,
                      .left = nonneg(),
                      .right = nonneg(),
                      .weights = WeightRule::nonneg,
                      .corrections = corrections});
  };
  const double own = fit(3, 2).relative_error;
  const FactorResult passing = fit(5, 2), settled = fit(5, 400);
  EXPECT_GT(passing.trace[2].last_sweep, 0.05) << "three atoms are enough, and were left far from it";
  EXPECT_GT(passing.trace[2].relative_error, 1.1 * own);
  EXPECT_LT(passing.trace.back().last_sweep, 1e-5) << "the polish ends when a sweep lowers f by less";
  EXPECT_LT(settled.trace[2].last_sweep, 1e-5);
  EXPECT_LT(settled.trace[2].relative_error, 1.01 * own);
  EXPECT_EQ(fit(5, 0).trace[2].last_sweep, 0) << "there was none";
}

}  // namespace
}  // namespace pursuit
