#include "pursuit/data/stored_entries.hpp"

#include <algorithm>

#include "base/fresh_pages.hpp"
#include "base/work.hpp"
#include "data/transpose_rows.hpp"

namespace pursuit {

StoredEntries StoredEntries::transposed(int threads) const {
  StoredEntries result{cols, rows, std::vector<std::int64_t>(std::size_t(cols) + 1, 0), {}, {}};
  threads = threads_for(double(value.size()), threads);
  resize_on(threads, result.value, value.size());
  if (is_dense()) {
    for (Index j = 0; j <= cols; ++j) result.start[std::size_t(j)] = j * rows;
    constexpr Index kSide = 32;  // of squares, so that steps from row to row stay in cache
    parallel_for((cols + kSide - 1) / kSide, threads, [&](Index square) {
      const Index j0 = square * kSide;
      for (Index i0 = 0; i0 < rows; i0 += kSide)
        for (Index i = i0; i < std::min(rows, i0 + kSide); ++i)
          for (Index j = j0; j < std::min(cols, j0 + kSide); ++j)
            result.value[std::size_t(j * rows + i)] = value[std::size_t(i * cols + j)];
    });
    return result;
  }
  resize_on(threads, result.index, index.size());
  transpose_rows<std::int64_t, int, double>(rows, cols, {start.data(), index.data(), value.data()},
                                            {result.start.data(), result.index.data(), result.value.data()},
                                            threads);
  return result;
}

}  // namespace pursuit
