#include "pursuit/data/observed_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/chunks.hpp"
#include "base/fresh_pages.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr Index kPerCounter = 4;  // entries, at least, for every counter of the sort

/// Entries 0 .. count - 1 sorted into groups, each keeping the order they come in: by counting, piece by
/// piece. visit_all(first, last, visit) calls visit(group, index, value) for some of them.
template <class VisitAll>
GroupedEntries grouped(Index count, Index groups, int threads, const VisitAll& visit_all) {
  // The order is the same for any number of pieces, so that it may follow the number of threads.
  const Index worthwhile = count / (kPerCounter * std::max<Index>(groups, 1)),
              pieces = threads == 1 ? 1 : std::clamp<Index>(worthwhile, 1, 2 * threads);
  const auto bound = [&](Index piece) { return count / pieces * piece + count % pieces * piece / pieces; };
  std::vector<std::vector<unsigned>> next(static_cast<std::size_t>(pieces));
  parallel_for(pieces, threads, [&](Index piece) {
    std::vector<unsigned>& own = next[std::size_t(piece)];
    own.assign(std::size_t(groups), 0);
    visit_all(bound(piece), bound(piece + 1), [&](int group, int, float) { ++own[std::size_t(group)]; });
  });
  GroupedEntries result;
  result.start.assign(std::size_t(groups) + 1, 0);
  const Chunks chunks(groups, 1 << 12);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    for (Index g = chunks.first(chunk); g < chunks.first(chunk + 1); ++g) {
      unsigned before = 0;
      for (auto& own : next) before += std::exchange(own[std::size_t(g)], before);
      result.start[std::size_t(g) + 1] = before;
    }
  });
  std::partial_sum(result.start.begin(), result.start.end(), result.start.begin());
  resize_on(threads, result.index, std::size_t(count));
  resize_on(threads, result.value, std::size_t(count));
  parallel_for(pieces, threads, [&](Index piece) {
    std::vector<unsigned>& own = next[std::size_t(piece)];
    visit_all(bound(piece), bound(piece + 1), [&](int group, int index, float value) {
      const std::int64_t place = result.start[std::size_t(group)] + own[std::size_t(group)]++;
      result.index[std::size_t(place)] = index;
      result.value[std::size_t(place)] = value;
    });
  });
  return result;
}

/// The same entries grouped the other way, ascending within each group because the source is walked in order.
GroupedEntries regrouped(const GroupedEntries& source, Index groups, int threads) {
  const auto visit_all = [&](Index first, Index last, const auto& visit) {
    auto i = std::upper_bound(source.start.begin(), source.start.end(), first) - source.start.begin() - 1;
    for (Index e = first; e < last; ++i)
      for (const Index end = std::min<Index>(last, source.start[std::size_t(i) + 1]); e < end; ++e)
        visit(source.index[std::size_t(e)], int(i), source.value[std::size_t(e)]);
  };
  return grouped(Index(source.index.size()), groups, threads, visit_all);
}

}  // namespace

GroupedEntries grouped_in_order(const ObservedEntries& entries, int threads) {
  const auto visit_all = [&](Index first, Index last, const auto& visit) {
    for (Index e = first; e < last; ++e) visit(entries.row[e], entries.col[e], entries.value[e]);
  };
  return grouped(entries.size(), entries.rows, threads, visit_all);
}

void sort_groups(GroupedEntries& groups, int threads) {
  const Chunks chunks(groups.size(), 16);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    std::vector<std::uint64_t> both;  // index and value in one number
    for (Index i = chunks.first(chunk); i < chunks.first(chunk + 1); ++i) {
      const auto first = groups.index.begin() + groups.start[std::size_t(i)],
                 last = groups.index.begin() + groups.start[std::size_t(i) + 1];
      if (std::is_sorted(first, last)) continue;
      float* const value = groups.value.data() + groups.start[std::size_t(i)];
      both.resize(std::size_t(last - first));
      for (std::size_t e = 0; e < both.size(); ++e)
        both[e] = std::uint64_t(first[std::ptrdiff_t(e)]) << 32 | std::bit_cast<std::uint32_t>(value[e]);
      std::sort(both.begin(), both.end());
      for (std::size_t e = 0; e < both.size(); ++e) {
        first[std::ptrdiff_t(e)] = int(both[e] >> 32);
        value[e] = std::bit_cast<float>(std::uint32_t(both[e]));
      }
    }
  });
}

namespace {

/// Entries in any order by column, each column's ascending by row.
GroupedEntries grouped_by_col(ObservedEntries entries, int threads) {
  const Index cols = entries.cols;
  const GroupedEntries by_row = grouped_in_order(entries, threads);
  entries = {};  // makes room for the second order
  return regrouped(by_row, cols, threads);
}

/// The first of 0 .. count - 1 that is `bad`, or count.
template <class Bad>
Index first_bad(Index count, int threads, const Bad& bad) {
  const Chunks chunks(count, 1 << 14);
  std::vector<Index> found(std::size_t(chunks.count()), count);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    Index i = chunks.first(chunk);
    while (i < chunks.first(chunk + 1) && !bad(i)) ++i;
    if (i < chunks.first(chunk + 1)) found[std::size_t(chunk)] = i;
  });
  return *std::min_element(found.begin(), found.end());
}

}  // namespace

void require_valid(const ObservedEntries& entries, int threads) {
  if (entries.row.size() != entries.value.size() || entries.col.size() != entries.value.size())
    throw InvalidInput(
        fmt::format("observed entries: {} rows, {} columns and {} values; there must be as many of each",
                    entries.row.size(), entries.col.size(), entries.value.size()));
  if (entries.size() == 0) throw InvalidInput("observed entries: there are none");
  constexpr Index kMost = std::numeric_limits<int>::max();
  if (entries.rows < 1 || entries.cols < 1 || entries.rows > kMost || entries.cols > kMost)
    throw InvalidInput(fmt::format("observed entries: a {} x {} matrix; sizes must be 1 to {}", entries.rows,
                                   entries.cols, kMost));
  const auto inside = [&](Index e) {
    return entries.row[e] >= 0 && entries.row[e] < entries.rows && entries.col[e] >= 0 &&
           entries.col[e] < entries.cols;
  };
  const Index e = first_bad(entries.size(), threads,
                            [&](Index at) { return !inside(at) || !std::isfinite(entries.value[at]); });
  if (e == entries.size()) return;
  if (!inside(e))
    throw InvalidInput(fmt::format("observed entry {}: position ({}, {}) lies outside a {} x {} matrix", e,
                                   entries.row[e], entries.col[e], entries.rows, entries.cols));
  throw InvalidInput(fmt::format("observed entry {} at ({}, {}): {} is not a finite number", e,
                                 entries.row[e], entries.col[e], entries.value[e]));
}

std::pair<Index, int> first_repeated(const GroupedEntries& groups, int threads) {
  const auto repeated = [&](Index i) {
    return std::adjacent_find(groups.index.begin() + groups.start[i],
                              groups.index.begin() + groups.start[i + 1]);
  };
  const Index twice = first_bad(groups.size(), threads, [&](Index i) {
    return repeated(i) != groups.index.begin() + groups.start[i + 1];
  });
  if (twice == groups.size()) return {-1, -1};
  return {twice, *repeated(twice)};
}

GroupedEntries grouped_by_row(ObservedEntries entries, int threads) {
  const Index rows = entries.rows;
  GroupedEntries by_col = grouped_by_col(std::move(entries), threads);
  return regrouped(by_col, rows, threads);
}

ObservedMatrix::ObservedMatrix(ObservedEntries entries, int threads) {
  threads = resolve_threads(threads);
  require_valid(entries, threads);
  const Index rows = entries.rows;
  by_col_ = grouped_by_col(std::move(entries), threads);
  by_row_ = regrouped(by_col_, rows, threads);
  if (const auto [row, col] = first_repeated(by_row_, threads); row >= 0)
    throw InvalidInput(fmt::format("the entry at row {}, column {} was observed twice", row, col));
}

ObservedEntries ObservedMatrix::release(int threads) {
  ObservedEntries entries{rows(), cols(), {}, {}, {}};
  by_col_ = {};
  threads = resolve_threads(threads);
  resize_on(threads, entries.row, by_row_.index.size());
  const Chunks chunks(entries.rows);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    for (Index i = chunks.first(chunk); i < chunks.first(chunk + 1); ++i)
      std::fill(entries.row.begin() + by_row_.start[i], entries.row.begin() + by_row_.start[i + 1], int(i));
  });
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

Index count_changes(const GroupedEntries& old, const GroupedEntries& now, Index first, Index last) {
  const auto count = [&](const GroupedEntries& entries) {
    return entries.start[std::min(last, entries.size())] - entries.start[std::min(first, entries.size())];
  };
  Index same = 0, in_both = 0;
  for (Index i = first; i < std::min({old.size(), now.size(), last}); ++i)
    for (std::int64_t a = old.start[i], b = now.start[i]; a < old.start[i + 1] && b < now.start[i + 1];) {
      const int before = old.index[a], after = now.index[b];
      if (before == after) {
        ++in_both;
        same += Index(old.value[a] == now.value[b]);
      }
      a += before <= after;
      b += after <= before;
    }
  return Index(count(old) + count(now)) - in_both - same;
}

}  // namespace pursuit
