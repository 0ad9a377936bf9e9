#include "pursuit/data/stored_entries.hpp"

#include <algorithm>
#include <numeric>

namespace pursuit {

StoredEntries StoredEntries::transposed() const {
  StoredEntries result{cols, rows, std::vector<std::int64_t>(std::size_t(cols) + 1, 0), {}, {}};
  result.value.resize(value.size());
  if (is_dense()) {
    for (Index j = 0; j <= cols; ++j) result.start[std::size_t(j)] = j * rows;
    constexpr Index kSide = 32;  // of squares, so that steps from row to row stay in cache
    for (Index i0 = 0; i0 < rows; i0 += kSide)
      for (Index j0 = 0; j0 < cols; j0 += kSide)
        for (Index i = i0; i < std::min(rows, i0 + kSide); ++i)
          for (Index j = j0; j < std::min(cols, j0 + kSide); ++j)
            result.value[std::size_t(j * rows + i)] = value[std::size_t(i * cols + j)];
    return result;
  }
  result.index.resize(index.size());
  for (const int j : index) ++result.start[std::size_t(j) + 1];
  std::partial_sum(result.start.begin(), result.start.end(), result.start.begin());
  std::vector<std::int64_t> next(result.start.begin(), result.start.end() - 1);
  for (Index i = 0; i < rows; ++i)
    for (auto e = start[std::size_t(i)]; e < start[std::size_t(i) + 1]; ++e) {
      const std::int64_t place = next[std::size_t(index[std::size_t(e)])]++;
      result.index[std::size_t(place)] = int(i);
      result.value[std::size_t(place)] = value[std::size_t(e)];
    }
  return result;
}

}  // namespace pursuit
