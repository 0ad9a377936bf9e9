#pragma once
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// Entries of a matrix that were seen; all others are unknown. A zero among them was seen to be zero.
struct ObservedEntries {
  Index rows = 0, cols = 0;
  std::vector<int> row, col;  // parallel, any order, no pair twice
  std::vector<float> value;

  Index size() const { return static_cast<Index>(value.size()); }
};

}  // namespace pursuit
