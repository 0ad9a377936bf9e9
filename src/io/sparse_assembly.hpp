#pragma once
// Sparse matrices from entries in any order, in time linear in their number when the file is sorted by row or
// by column, as files nearly always are.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "io/plain_vector.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

/// The entries of a sparse matrix as a file lists them; positions count from 0.
template <class Scalar>
struct Entries {
  PlainVector<int> row, column;
  PlainVector<Scalar> value;

  void reserve(std::size_t count) {
    row.reserve(count);
    column.reserve(count);
    value.reserve(count);
  }
  void resize(std::size_t count) {
    row.resize(count);
    column.resize(count);
    value.resize(count);
  }
  void add(int i, int j, Scalar x) {
    row.push_back(i);
    column.push_back(j);
    value.push_back(x);
  }
};

/// Throws InvalidInput for a matrix without rows or columns, or with more of either than int can count.
void require_indexable(const std::string& where, std::int64_t rows, std::int64_t columns);

/// Where the entries of a sparse matrix are to stay: how many there may be, and how many of the processes
/// that share them are on this machine.
struct SparseRoom {
  std::int64_t most_entries = std::numeric_limits<int>::max();
  int processes = 1, here = 1;
};

/// The same, and more for a sparse matrix: not more entries than there may be, and not so many rows or
/// columns that vectors of their lengths would dwarf the entries or do not fit into memory, because a header
/// of a few bytes must not claim gigabytes.
void require_storable(const std::string& where, std::int64_t rows, std::int64_t columns, std::int64_t entries,
                      const SparseRoom& room = {});

/// Adds to `counts`, one for every row, how many entries it has.
template <class Count>
void count_by_row(const PlainVector<int>& row, Index rows, Count* counts, int threads);

/// Rows cut at places fixed by `start` into pieces of about as many entries: the first row of each, and the
/// end.
std::vector<Index> row_pieces(const int* start, Index rows);

bool is_ascending(std::span<const int> numbers, int threads);

/// Where the entries of every row start once they are sorted by row, from `start` all zero, and the end
/// behind the last. Returns whether they are sorted as they are.
bool find_row_starts(const PlainVector<int>& row, Index rows, int* start, int threads);

/// The matrix with each row sorted by column. Entries of the same position stay side by side, in the file's
/// order.
template <class Scalar>
SparseMatrixOf<Scalar> assemble(Index rows, Index columns, const Entries<Scalar>& entries, int threads = 1) {
  const std::size_t count = entries.value.size();
  SparseMatrixOf<Scalar> matrix(rows, columns);
  matrix.resizeNonZeros(static_cast<Index>(count));
  int* start = matrix.outerIndexPtr();
  int* column = matrix.innerIndexPtr();
  Scalar* value = matrix.valuePtr();
  const bool sorted = find_row_starts(entries.row, rows, start, threads);
  const std::vector<Index> cuts = row_pieces(start, rows);
  const auto pieces = static_cast<Index>(cuts.size()) - 1;
  parallel_for(sorted ? pieces : std::min<Index>(pieces, threads), threads, [&](Index p) {
    // Where rows are not sorted a piece looks at all entries for its own: as few pieces as there are threads.
    const Index shared = sorted ? pieces : std::min<Index>(pieces, threads);
    const Index first = cuts[static_cast<std::size_t>(pieces * p / shared)],
                last = cuts[static_cast<std::size_t>(pieces * (p + 1) / shared)];
    if (sorted) {
      std::copy(entries.column.begin() + start[first], entries.column.begin() + start[last],
                column + start[first]);
      std::copy(entries.value.begin() + start[first], entries.value.begin() + start[last],
                value + start[first]);
    } else {
      std::vector<int> next(start + first, start + last);
      for (std::size_t k = 0; k < count; ++k) {
        const auto line = static_cast<std::size_t>(entries.row[k] - first);
        if (line >= next.size()) continue;
        const int slot = next[line]++;
        column[slot] = entries.column[k];
        value[slot] = entries.value[k];
      }
    }
    std::vector<std::pair<int, Scalar>> row;
    for (Index i = first; i < last; ++i) {
      if (std::is_sorted(column + start[i], column + start[i + 1])) continue;
      row.clear();
      for (int slot = start[i]; slot < start[i + 1]; ++slot) row.emplace_back(column[slot], value[slot]);
      std::stable_sort(row.begin(), row.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (int slot = start[i]; slot < start[i + 1]; ++slot)
        std::tie(column[slot], value[slot]) = row[static_cast<std::size_t>(slot - start[i])];
    }
  });
  return matrix;
}

/// The first position (row, column) that an assembled matrix holds twice.
template <class Scalar>
std::optional<std::pair<int, int>> find_duplicate(const SparseMatrixOf<Scalar>& matrix, int threads = 1) {
  const int* start = matrix.outerIndexPtr();
  const int* column = matrix.innerIndexPtr();
  const std::vector<Index> cuts = row_pieces(start, matrix.rows());
  std::vector<std::optional<std::pair<int, int>>> found(cuts.size() - 1);
  parallel_for(Index(found.size()), threads, [&](Index p) {
    const auto piece = static_cast<std::size_t>(p);
    for (auto i = static_cast<int>(cuts[piece]); i < cuts[piece + 1] && !found[piece]; ++i) {
      const int* twice = std::adjacent_find(column + start[i], column + start[i + 1]);
      if (twice != column + start[i + 1]) found[piece] = std::pair(i, *twice);
    }
  });
  const auto first = std::find_if(found.begin(), found.end(), [](const auto& twice) { return bool(twice); });
  return first == found.end() ? std::nullopt : *first;
}

/// Replaces entries of the same position by their sum.
template <class Scalar>
void sum_duplicates(SparseMatrixOf<Scalar>& matrix) {
  int* start = matrix.outerIndexPtr();
  int* column = matrix.innerIndexPtr();
  Scalar* value = matrix.valuePtr();
  int kept = 0, next = 0;
  for (Index i = 0; i < matrix.rows(); ++i) {
    const int row_start = kept;
    for (; next < start[i + 1]; ++next) {
      if (kept > row_start && column[kept - 1] == column[next]) {
        value[kept - 1] += value[next];
      } else {
        column[kept] = column[next];
        value[kept++] = value[next];
      }
    }
    start[i + 1] = kept;
  }
  matrix.resizeNonZeros(kept);
}

}  // namespace pursuit::io
