#pragma once
// What a set whose members have few non-zeros keeps of a vector: its k largest entries.

#include "atoms/passes.hpp"

namespace pursuit {

/// Whether squares of entries up to this size neither overflow nor vanish.
inline bool squares_safely(double largest) {
  return largest > 1e-140 && largest < 1e140;
}

struct LargestSizes {
  bool finite;  // every entry that was looked at
  TopK top;
  double squares;  // the sum of those of the largest
};

/// `keys` are SizeKeys, or look like them.
template <class Keys>
LargestSizes largest_sizes(Keys& keys, Index k) {
  const SourceTopK search = find_top_k(keys, k);
  const double threshold = search.top.threshold;
  return {search.found && keys.finite, search.top,
          keys.squares_above + double(search.ties) * (threshold * threshold) +
              passes::squares_above(search.keys, search.inside, threshold)};
}

}  // namespace pursuit
