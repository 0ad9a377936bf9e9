#pragma once
#include <algorithm>

namespace pursuit {

/// So many of the threads as are worth waking for so many multiply-adds in all.
inline int threads_for(double work, int threads) {
  constexpr double kWorthOne = 2e5;  // some ten microseconds
  return int(std::clamp(work / kWorthOne, 1.0, double(std::max(threads, 1))));
}

}  // namespace pursuit
