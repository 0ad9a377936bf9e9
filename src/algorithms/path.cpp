#include "pursuit/algorithms/path.hpp"

namespace pursuit {

std::vector<Index> path_steps(std::span<const Index> ranks) {
  std::vector<Index> steps;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    while (!steps.empty() && ranks[std::size_t(steps.back())] >= ranks[k]) steps.pop_back();
    steps.push_back(Index(k));
  }
  return steps;
}

Trace path_by_rank(const Trace& trace) {
  std::vector<Index> ranks;
  for (const Step& step : trace) ranks.push_back(step.rank);
  Trace path;
  for (const Index k : path_steps(ranks)) path.push_back(trace[std::size_t(k)]);
  return path;
}

}  // namespace pursuit
