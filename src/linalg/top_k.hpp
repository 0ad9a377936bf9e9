#pragma once
// The k largest of n keys, ties to the lowest index. O(n), no allocation after the first call of a thread.

#include <algorithm>
#include <functional>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// Calls take(i) for the indices of the k largest keys, in ascending order of index. Needs 1 <= k <=
/// keys.size().
template <class Take>
void for_top_k(const Eigen::Ref<const Vector>& keys, Index k, const Take& take) {
  thread_local std::vector<double> scratch;
  scratch.assign(keys.data(), keys.data() + keys.size());
  std::nth_element(scratch.begin(), scratch.begin() + (k - 1), scratch.end(), std::greater<>());
  const double threshold = scratch[std::size_t(k - 1)];
  Index ties =
      k - std::count_if(scratch.begin(), scratch.begin() + k, [&](double x) { return x > threshold; });
  for (Index i = 0; i < keys.size(); ++i) {
    if (keys[i] > threshold || (keys[i] == threshold && ties-- > 0)) take(i);
  }
}

}  // namespace pursuit
