#pragma once
#include <cstdint>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// The entries of a matrix by rows, in double precision: every one of a dense matrix, those that a sparse
/// matrix stores, all others being zero.
struct StoredEntries {
  Index rows = 0, cols = 0;
  std::vector<std::int64_t> start;  // those of row i are start[i] .. start[i + 1] - 1, ascending in `index`
  std::vector<int> index;           // the column; empty where every entry is there
  std::vector<double> value;

  bool is_dense() const { return index.empty() && !value.empty(); }
  Index count(Index i) const { return start[std::size_t(i) + 1] - start[std::size_t(i)]; }
  StoredEntries transposed(int threads = 1) const;
};

}  // namespace pursuit
