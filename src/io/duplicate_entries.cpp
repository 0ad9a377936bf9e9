#include "io/duplicate_entries.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/parallel.hpp"
#include "io/sparse_assembly.hpp"

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

using Duplicate = std::optional<std::pair<int, int>>;

/// Remembers the row that each column was last seen in.
class SeenColumns {
 public:
  explicit SeenColumns(Index cols) : last_row_(static_cast<std::size_t>(cols), -1) {}
  bool seen(int row, int col) { return std::exchange(last_row_[static_cast<std::size_t>(col)], row) == row; }

 private:
  std::vector<int> last_row_;
};

/// Entries first .. last - 1 are sorted by row.
Duplicate find_among_sorted(const ObservedEntries& entries, std::size_t first, std::size_t last) {
  SeenColumns columns(entries.cols);
  for (std::size_t k = first; k < last; ++k)
    if (columns.seen(entries.row[k], entries.col[k])) return std::pair(entries.row[k], entries.col[k]);
  return std::nullopt;
}

/// Entries in any order; only rows first .. last - 1 are looked at.
Duplicate find_among_rows(const ObservedEntries& entries, int first, int last) {
  std::vector<Index> next(static_cast<std::size_t>(last - first) + 1, 0);
  const auto height = static_cast<unsigned>(last - first);
  for (const int i : entries.row)
    if (static_cast<unsigned>(i - first) < height) ++next[static_cast<std::size_t>(i - first) + 1];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<int> cols(static_cast<std::size_t>(next.back()));
  for (std::size_t k = 0; k < entries.row.size(); ++k)
    if (const int i = entries.row[k] - first; static_cast<unsigned>(i) < height)
      cols[static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++)] = entries.col[k];
  SeenColumns columns(entries.cols);
  std::size_t k = 0;  // next[i] is now where row i ends
  for (int i = first; i < last; ++i)
    for (; k < static_cast<std::size_t>(next[static_cast<std::size_t>(i - first)]); ++k)
      if (columns.seen(i, cols[k])) return std::pair(i, cols[k]);
  return std::nullopt;
}

}  // namespace

std::optional<std::pair<int, int>> find_duplicate(const ObservedEntries& entries, int threads) {
  const std::size_t count = entries.row.size();
  const bool sorted = is_ascending(entries.row, threads);
  // Every piece has a table of all columns, and looks at all rows where they are not sorted.
  constexpr Index kFewest = 1 << 16;
  const Index worthwhile = 1 + Index(count) / std::max<Index>(kFewest, entries.cols);
  const Index pieces = std::min<Index>(worthwhile, sorted ? 4 * threads : threads);
  const auto row_start = [&](Index p) {  // of the row that a cut at equal numbers of entries falls in
    const auto cut = entries.row.begin() + static_cast<std::ptrdiff_t>(count) * p / pieces;
    return p == pieces ? count
                       : static_cast<std::size_t>(std::lower_bound(entries.row.begin(), cut, *cut) -
                                                  entries.row.begin());
  };
  std::vector<Duplicate> found(static_cast<std::size_t>(pieces));
  parallel_for(pieces, threads, [&](Index p) {
    found[static_cast<std::size_t>(p)] = sorted ? find_among_sorted(entries, row_start(p), row_start(p + 1))
                                                : find_among_rows(entries, int(entries.rows * p / pieces),
                                                                  int(entries.rows * (p + 1) / pieces));
  });
  const auto first =
      std::find_if(found.begin(), found.end(), [](const auto& twice) { return twice.has_value(); });
  return first == found.end() ? std::nullopt : *first;
}

void merge_duplicates(ObservedEntries& entries, std::vector<double>& times, bool sum) {
  const std::vector<Index> starts = row_starts(entries);
  // One array after the other, so that only one is there twice at any time.
  entries.col = sorted_by_row(entries.row, starts, entries.col);
  entries.value = sorted_by_row(entries.row, starts, entries.value);
  if (!times.empty()) times = sorted_by_row(entries.row, starts, times);

  // Where in the result each column was last put; below the start of the row if not in this row.
  std::vector<Index> place(static_cast<std::size_t>(entries.cols), -1);
  std::size_t kept = 0, next = 0;
  for (int i = 0; i < entries.rows; ++i) {
    const auto row_start = static_cast<Index>(kept);
    const auto end = static_cast<std::size_t>(starts[static_cast<std::size_t>(i) + 1]);
    for (; next < end; ++next) {
      const int j = entries.col[next];
      Index& at = place[static_cast<std::size_t>(j)];
      const bool again = at >= row_start;
      if (!again) at = static_cast<Index>(kept++);
      const auto slot = static_cast<std::size_t>(at);
      const float before = again && sum ? entries.value[slot] : 0.0F;
      entries.row[slot] = i;
      entries.col[slot] = j;
      entries.value[slot] = before + entries.value[next];
      if (!times.empty()) times[slot] = times[next];
    }
  }
  entries.row.resize(kept);
  entries.col.resize(kept);
  entries.value.resize(kept);
  if (!times.empty()) times.resize(kept);
}

}  // namespace pursuit::io
