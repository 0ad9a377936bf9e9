#include "io/duplicate_entries.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pursuit::io {

namespace {

/// Where each row starts once the entries are sorted by row, and where the last one ends.
std::vector<Index> row_starts(const ObservedEntries& entries) {
  std::vector<Index> starts(static_cast<std::size_t>(entries.rows) + 1, 0);
  for (const int i : entries.row) ++starts[static_cast<std::size_t>(i) + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  return starts;
}

/// Values of the entries, sorted by row; those of one row stay in the file's order.
template <class Value>
std::vector<Value> sorted_by_row(const std::vector<int>& row, std::vector<Index> next,
                                 const std::vector<Value>& values) {
  std::vector<Value> sorted(values.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(row[k])]++)] = values[k];
  return sorted;
}

}  // namespace

std::optional<std::pair<int, int>> find_duplicate(const ObservedEntries& entries) {
  const std::vector<Index> starts = row_starts(entries);
  std::vector<int> buffer;
  if (!std::is_sorted(entries.row.begin(), entries.row.end()))
    buffer = sorted_by_row(entries.row, starts, entries.col);
  const std::vector<int>& columns = buffer.empty() ? entries.col : buffer;
  std::vector<int> last_row(static_cast<std::size_t>(entries.cols), -1);  // that each column was seen in
  for (int i = 0; i < entries.rows; ++i) {
    const auto begin = static_cast<std::size_t>(starts[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(starts[static_cast<std::size_t>(i) + 1]);
    for (std::size_t k = begin; k < end; ++k) {
      if (std::exchange(last_row[static_cast<std::size_t>(columns[k])], i) == i)
        return std::pair(i, columns[k]);
    }
  }
  return std::nullopt;
}

void keep_last(ObservedEntries& entries) {
  const std::vector<Index> starts = row_starts(entries);
  // One array after the other, so that only one is there twice at any time.
  entries.col = sorted_by_row(entries.row, starts, entries.col);
  entries.value = sorted_by_row(entries.row, starts, entries.value);

  // Where in the result each column was last put; below the start of the row if not in this row.
  std::vector<Index> place(static_cast<std::size_t>(entries.cols), -1);
  std::size_t kept = 0, next = 0;
  for (int i = 0; i < entries.rows; ++i) {
    const auto row_start = static_cast<Index>(kept);
    const auto end = static_cast<std::size_t>(starts[static_cast<std::size_t>(i) + 1]);
    for (; next < end; ++next) {
      const int j = entries.col[next];
      Index& at = place[static_cast<std::size_t>(j)];
      if (at < row_start) at = static_cast<Index>(kept++);
      const auto slot = static_cast<std::size_t>(at);
      entries.row[slot] = i;
      entries.col[slot] = j;
      entries.value[slot] = entries.value[next];
    }
  }
  entries.row.resize(kept);
  entries.col.resize(kept);
  entries.value.resize(kept);
}

}  // namespace pursuit::io
