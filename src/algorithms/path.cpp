#include "pursuit/algorithms/path.hpp"

namespace pursuit {

Trace path_by_rank(const Trace& trace) {
  Trace path;
  for (const Step& step : trace) {
    while (!path.empty() && path.back().rank >= step.rank) path.pop_back();
    path.push_back(step);
  }
  return path;
}

}  // namespace pursuit
