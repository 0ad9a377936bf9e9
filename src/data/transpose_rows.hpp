#pragma once
// Compressed rows turned into compressed columns, by counting, on all threads.

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "base/chunks.hpp"

namespace pursuit {

/// Rows whose entries begin at start[i], of so many columns; the places of all entries and their values.
template <class Start, class Place, class Value>
struct RowArrays {
  Start* start;
  Place* index;
  Value* value;
};

/// Fills `to`, `cols` + 1 starts and as many entries as there are. Entries of a column come in the order of
/// their rows, whatever their order was.
template <class Start, class Place, class Value>
void transpose_rows(Index rows, Index cols, const RowArrays<const Start, const Place, const Value>& from,
                    const RowArrays<Start, Place, Value>& to, int threads) {
  // Parts of the rows count how often they meet each column, and know then where theirs go. There are no more
  // counters than entries.
  constexpr Index kEntriesOfAPart = 16384;
  const auto entries = Index(from.start[rows]);
  const Index parts = std::clamp<Index>(entries / std::max(cols, kEntriesOfAPart), 1, 64);
  const auto first_row = [&](Index part) {
    return part == parts
               ? rows
               : Index(std::lower_bound(from.start, from.start + rows, Start(entries / parts * part)) -
                       from.start);
  };
  const auto places = std::make_unique_for_overwrite<Start[]>(std::size_t(parts * cols));
  parallel_for(parts, threads, [&](Index part) {
    Start* count = places.get() + part * cols;
    std::fill_n(count, cols, Start(0));
    for (auto e = Index(from.start[first_row(part)]); e < Index(from.start[first_row(part + 1)]); ++e)
      ++count[from.index[e]];
  });
  to.start[0] = 0;
  const Chunks columns(cols, 1 << 10);
  parallel_for(columns.count(), threads, [&](Index chunk) {
    const Index first = columns.first(chunk), length = columns.length(chunk);
    Start* before = to.start + 1 + first;  // of parts so far, and of all in the end
    std::fill_n(before, length, Start(0));
    for (Index part = 0; part < parts; ++part) {
      Start* place = places.get() + part * cols + first;
      for (Index j = 0; j < length; ++j) before[j] += std::exchange(place[j], before[j]);
    }
  });
  std::partial_sum(to.start, to.start + cols + 1, to.start);
  parallel_for(parts, threads, [&](Index part) {
    Start* place = places.get() + part * cols;
    for (Index j = 0; j < cols; ++j) place[j] += to.start[j];
    for (Index i = first_row(part); i < first_row(part + 1); ++i)
      for (auto e = Index(from.start[i]); e < Index(from.start[i + 1]); ++e) {
        const auto at = Index(place[from.index[e]]++);
        to.index[at] = Place(i);
        to.value[at] = from.value[e];
      }
  });
}

}  // namespace pursuit
