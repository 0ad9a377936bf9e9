#pragma once
// The k largest of n keys, ties to the lowest index. O(n), no allocation after the first call of a thread.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// The k largest keys are those above the threshold, and those equal to it at places before `ties_end`.
struct TopK {
  double threshold;
  Index ties_end;

  bool takes(double key, Index i) const { return key > threshold || (key == threshold && i < ties_end); }
};

/// Needs 1 <= k <= keys.size(), and no NaN.
TopK find_top_k(ConstVectorRef keys, Index k);

/// Calls take(i) for the indices of the k largest keys, in ascending order of index.
template <class Take>
void for_top_k(ConstVectorRef keys, Index k, const Take& take) {
  const TopK top = find_top_k(keys, k);
  for (Index i = 0; i < keys.size(); ++i)
    if (top.takes(keys[i], i)) take(i);
}

}  // namespace pursuit
