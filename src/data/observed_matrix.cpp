#include "pursuit/data/observed_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

std::vector<std::int64_t> starts(const std::vector<int>& group, Index groups) {
  std::vector<std::int64_t> start(std::size_t(groups) + 1, 0);
  for (const int i : group) ++start[i + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  return start;
}

/// The same entries grouped the other way, ascending within each group because the source is walked in order.
GroupedEntries regrouped(const GroupedEntries& source, Index groups) {
  GroupedEntries result{starts(source.index, groups), std::vector<int>(source.index.size()),
                        std::vector<float>(source.value.size())};
  std::vector<std::int64_t> next(result.start.begin(), result.start.end() - 1);
  for (Index i = 0; i < source.size(); ++i)
    for (std::int64_t e = source.start[i]; e < source.start[i + 1]; ++e) {
      const std::int64_t place = next[source.index[e]]++;
      result.index[place] = int(i);
      result.value[place] = source.value[e];
    }
  return result;
}

}  // namespace

void require_valid(const ObservedEntries& entries) {
  if (entries.row.size() != entries.value.size() || entries.col.size() != entries.value.size())
    throw InvalidInput(
        fmt::format("observed entries: {} rows, {} columns and {} values; there must be as many of each",
                    entries.row.size(), entries.col.size(), entries.value.size()));
  if (entries.size() == 0) throw InvalidInput("observed entries: there are none");
  constexpr Index kMost = std::numeric_limits<int>::max();
  if (entries.rows < 1 || entries.cols < 1 || entries.rows > kMost || entries.cols > kMost)
    throw InvalidInput(fmt::format("observed entries: a {} x {} matrix; sizes must be 1 to {}", entries.rows,
                                   entries.cols, kMost));
  for (std::size_t e = 0; e < entries.value.size(); ++e) {
    const int i = entries.row[e], j = entries.col[e];
    if (i < 0 || i >= entries.rows || j < 0 || j >= entries.cols)
      throw InvalidInput(fmt::format("observed entry {}: position ({}, {}) lies outside a {} x {} matrix", e,
                                     i, j, entries.rows, entries.cols));
    if (!std::isfinite(entries.value[e]))
      throw InvalidInput(
          fmt::format("observed entry {} at ({}, {}): {} is not a finite number", e, i, j, entries.value[e]));
  }
}

ObservedMatrix::ObservedMatrix(ObservedEntries entries) {
  require_valid(entries);
  const Index rows = entries.rows, cols = entries.cols;
  GroupedEntries unsorted{starts(entries.row, rows), std::vector<int>(entries.col.size()),
                          std::vector<float>(entries.value.size())};
  std::vector<std::int64_t> next(unsorted.start.begin(), unsorted.start.end() - 1);
  for (std::size_t e = 0; e < entries.value.size(); ++e) {
    const std::int64_t place = next[entries.row[e]]++;
    unsorted.index[place] = entries.col[e];
    unsorted.value[place] = entries.value[e];
  }
  entries = {};  // makes room for the second order
  by_col_ = regrouped(unsorted, cols);
  unsorted = {};
  by_row_ = regrouped(by_col_, rows);
  for (Index i = 0; i < this->rows(); ++i)
    for (std::int64_t e = by_row_.start[i] + 1; e < by_row_.start[i + 1]; ++e)
      if (by_row_.index[e] == by_row_.index[e - 1])
        throw InvalidInput(
            fmt::format("the entry at row {}, column {} was observed twice", i, by_row_.index[e]));
}

ObservedEntries ObservedMatrix::release() {
  ObservedEntries entries{rows(), cols(), std::vector<int>(by_row_.index.size()), {}, {}};
  by_col_ = {};
  for (Index i = 0; i < entries.rows; ++i)
    std::fill(entries.row.begin() + by_row_.start[i], entries.row.begin() + by_row_.start[i + 1], int(i));
  entries.col = std::move(by_row_.index);
  entries.value = std::move(by_row_.value);
  by_row_ = {};
  return entries;
}

ObservedEntries merged(const GroupedEntries& old, ObservedEntries fresh) {
  const ObservedMatrix newer(fresh);
  const GroupedEntries& by_row = newer.by_row();
  for (Index i = 0; i < old.size(); ++i)
    for (std::int64_t e = old.start[i]; e < old.start[i + 1]; ++e) {
      const auto first = by_row.index.begin() + by_row.start[i],
                 last = by_row.index.begin() + by_row.start[i + 1];
      if (std::binary_search(first, last, old.index[e])) continue;
      fresh.row.push_back(int(i));
      fresh.col.push_back(old.index[e]);
      fresh.value.push_back(old.value[e]);
    }
  return fresh;
}

}  // namespace pursuit
