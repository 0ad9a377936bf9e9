#include "pursuit/algorithms/path.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::pair<Index, double>> ranks_and_errors(const std::vector<std::pair<Index, double>>& steps) {
  Trace trace;
  for (const auto& [rank, error] : steps) {
    Step step;
    step.rank = rank;
    step.relative_error = error;
    trace.push_back(step);
  }
  std::vector<std::pair<Index, double>> path;
  for (const Step& step : path_by_rank(trace)) path.emplace_back(step.rank, step.relative_error);
  return path;
}

TEST(PathByRank, HasTheLastWordOnEveryRank) {
  EXPECT_THAT(ranks_and_errors({}), IsEmpty());
  EXPECT_THAT(ranks_and_errors({{1, .5}, {2, .4}, {2, .3}, {3, .2}}),
              ElementsAre(Pair(1, .5), Pair(2, .3), Pair(3, .2)));
}

TEST(PathByRank, ForgetsRanksThatWereGivenUp) {
  EXPECT_THAT(ranks_and_errors({{1, .5}, {2, .4}, {3, .3}, {2, .25}, {4, .1}}),
              ElementsAre(Pair(1, .5), Pair(2, .25), Pair(4, .1)));
}

}  // namespace
}  // namespace pursuit
