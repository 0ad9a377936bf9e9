#include "io/sparse_assembly.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>

#include "base/chunks.hpp"
#include "base/machine.hpp"
#include "io/byte_source.hpp"
#include "io/defect.hpp"

namespace pursuit::io {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<int>::max();

}  // namespace

template <class Count>
void count_by_row(const PlainVector<int>& row, Index rows, Count* counts, int threads) {
  constexpr Index kPerCounter = 4;  // in parts where there are many entries for each counter
  const auto size = static_cast<Index>(row.size());
  const Index parts = std::clamp<Index>(size / (kPerCounter * rows), 1, threads);
  std::vector<std::vector<Count>> own(static_cast<std::size_t>(parts));
  parallel_for(parts, threads, [&](Index part) {
    std::vector<Count>& here = own[static_cast<std::size_t>(part)];
    here.assign(static_cast<std::size_t>(rows), 0);
    for (Index k = size * part / parts; k < size * (part + 1) / parts; ++k)
      ++here[static_cast<std::size_t>(row[static_cast<std::size_t>(k)])];
  });
  const Chunks chunks(rows, 1 << 14);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    for (const std::vector<Count>& here : own)
      for (Index i = chunks.first(chunk); i < chunks.first(chunk + 1); ++i)
        counts[i] += here[static_cast<std::size_t>(i)];
  });
}

template void count_by_row(const PlainVector<int>&, Index, int*, int);
template void count_by_row(const PlainVector<int>&, Index, std::int64_t*, int);

std::vector<Index> row_pieces(const int* start, Index rows) {
  constexpr Index kEntries = 1 << 16, kMostPieces = 256;
  const Index count = start[rows], pieces = std::clamp<Index>(count / kEntries, 1, kMostPieces);
  std::vector<Index> cuts = {0};
  for (Index p = 1; p < pieces; ++p) {
    const Index cut = std::lower_bound(start, start + rows, int(count * p / pieces)) - start;
    if (cut > cuts.back()) cuts.push_back(cut);
  }
  if (cuts.back() < rows) cuts.push_back(rows);
  return cuts;
}

bool is_ascending(std::span<const int> numbers, int threads) {
  const Chunks chunks(static_cast<Index>(numbers.size()), Index(1) << 14);
  std::atomic<bool> ascending = true;
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    const auto first = numbers.begin() + chunks.first(chunk), last = first + chunks.length(chunk);
    if (!std::is_sorted(first == numbers.begin() ? first : first - 1, last)) ascending = false;
  });
  return ascending;
}

bool find_row_starts(const PlainVector<int>& row, Index rows, int* start, int threads) {
  const auto count = static_cast<Index>(row.size());
  const Chunks chunks(count, Index(1) << 14);
  if (!is_ascending(row, threads)) {
    count_by_row(row, rows, start + 1, threads);
    for (Index i = 0; i < rows; ++i) start[i + 1] += start[i];
    return false;
  }
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    for (Index k = chunks.first(chunk), end = chunks.first(chunk + 1); k < end; ++k) {
      const int before = k == 0 ? 0 : row[static_cast<std::size_t>(k - 1)],
                here = row[static_cast<std::size_t>(k)];
      for (int i = before + 1; i <= here; ++i) start[i] = static_cast<int>(k);
    }
  });
  std::fill(start + (count > 0 ? row.back() + 1 : 0), start + rows + 1, static_cast<int>(count));
  return true;
}

void require_indexable(const std::string& where, std::int64_t rows, std::int64_t columns) {
  const std::string size = fmt::format("{} x {}", rows, columns);
  if (rows < 0 || columns < 0) refuse(where, fmt::format("negative size {}", size));
  if (rows == 0 || columns == 0) refuse(where, fmt::format("empty matrix ({})", size));
  if (rows > kMost || columns > kMost) {
    refuse(where,
           fmt::format("size {} is too large: at most {} rows and columns are supported", size, kMost));
  }
}

void require_storable(const std::string& where, std::int64_t rows, std::int64_t columns, std::int64_t entries,
                      const SparseRoom& room) {
  require_indexable(where, rows, columns);
  if (entries < 0) refuse(where, fmt::format("negative number of entries {}", entries));
  if (entries > room.most_entries) {
    refuse(where, fmt::format("{} stored entries are too many: at most {} are supported", entries,
                              room.most_entries));
  }
  constexpr std::int64_t kAlwaysAllowed = std::int64_t{1} << 20, kLinesPerEntry = 64;
  const std::int64_t most_lines = std::max(kAlwaysAllowed, kLinesPerEntry * entries);
  if (rows > most_lines || columns > most_lines) {
    refuse(where,
           fmt::format("{} {} are implausible for {} stored entries: at most {} are supported",
                       std::max(rows, columns), rows > columns ? "rows" : "columns", entries, most_lines));
  }
  // A row pointer each, a few vectors of each side, and the entries with their positions: the first of each
  // process, the others shared.
  constexpr std::uint64_t kBytesPerLine = 40, kBytesPerEntry = 12;
  const std::uint64_t needed =
      std::uint64_t(room.here) * (kBytesPerLine * std::uint64_t(rows + columns) +
                                  kBytesPerEntry * std::uint64_t(entries / room.processes));
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 25;  // not worth asking
  if (const std::uint64_t available = needed < kSmall ? kSmall : available_memory(); needed > available) {
    refuse(where, fmt::format(
                      "a matrix of {} x {} with {} stored entries needs at least {} of memory, more than {}; "
                      "{} are free",
                      rows, columns, entries, human_size(needed), memory_there_is(), human_size(available)));
  }
}

}  // namespace pursuit::io
