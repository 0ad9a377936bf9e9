#include "io/entries_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/chunks.hpp"
#include "io/defect.hpp"
#include "io/own_rows.hpp"
#include "io/rank_words.hpp"

namespace pursuit::io {

namespace {

constexpr std::int64_t kMostOfABlock = std::numeric_limits<int>::max();

/// The block of every row.
std::vector<std::uint8_t> blocks_of_rows(const RowCuts& cuts) {
  static_assert(RowCuts::kMostBlocks <= 256);
  std::vector<std::uint8_t> block(static_cast<std::size_t>(cuts.rows()));
  for (Index b = 0; b < cuts.blocks(); ++b)
    std::fill_n(block.begin() + cuts.first(b), cuts.length(b), static_cast<std::uint8_t>(b));
  return block;
}

/// Brings entries of the same block of rows side by side, in the order that they have. Returns where those of
/// each block begin, and the end of the last.
std::vector<std::size_t> group_by_block(Entries<double>& entries, const RowCuts& cuts, int threads) {
  const auto blocks = static_cast<std::size_t>(cuts.blocks());
  std::vector<std::size_t> start(blocks + 1, 0);
  PlainVector<int>& row = entries.row;
  if (is_ascending(row, threads)) {
    for (std::size_t b = 1; b <= blocks; ++b)
      start[b] = static_cast<std::size_t>(
          std::lower_bound(row.begin(), row.end(), cuts.first(static_cast<Index>(b))) - row.begin());
    return start;
  }
  const std::vector<std::uint8_t> block_of = blocks_of_rows(cuts);
  const Chunks chunks(static_cast<Index>(row.size()), Index(1) << 16);
  std::vector<std::vector<std::size_t>> next(static_cast<std::size_t>(chunks.count()));  // place of a chunk
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    std::vector<std::size_t>& count = next[static_cast<std::size_t>(chunk)];
    count.assign(blocks, 0);
    for (Index k = chunks.first(chunk); k < chunks.first(chunk + 1); ++k)
      ++count[block_of[static_cast<std::size_t>(row[static_cast<std::size_t>(k)])]];
  });
  std::size_t place = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::vector<std::size_t>& count : next) place += std::exchange(count[b], place);
    start[b + 1] = place;
  }
  const auto move_to_blocks = [&](auto& list) {  // one after the other, for the sake of memory
    std::remove_reference_t<decltype(list)> moved(list.size());
    parallel_for(chunks.count(), threads, [&](Index chunk) {
      std::vector<std::size_t> to = next[static_cast<std::size_t>(chunk)];
      for (Index k = chunks.first(chunk); k < chunks.first(chunk + 1); ++k) {
        const auto at = static_cast<std::size_t>(k);
        moved[to[block_of[static_cast<std::size_t>(row[at])]]++] = list[at];
      }
    });
    list.swap(moved);
  };
  move_to_blocks(entries.value);
  move_to_blocks(entries.column);
  move_to_blocks(row);  // which says where all of them go
  return start;
}

/// How many entries of every block each rank has: a list of all blocks for each, the same on all ranks.
class EntryCounts {
 public:
  EntryCounts(Ranks& ranks, const std::vector<std::size_t>& start) : blocks_(start.size() - 1) {
    std::vector<std::uint64_t> mine;
    for (std::size_t b = 0; b < blocks_; ++b) mine.push_back(start[b + 1] - start[b]);
    const std::vector<std::byte> all = gather(ranks, mine.data(), blocks_ * sizeof mine[0], true);
    counts_.resize(all.size() / sizeof mine[0]);
    std::memcpy(counts_.data(), all.data(), all.size());
  }
  std::size_t of(int rank, Index block) const {
    return counts_[static_cast<std::size_t>(rank) * blocks_ + static_cast<std::size_t>(block)];
  }
  std::size_t of_all(Index block) const {
    std::size_t sum = 0;
    for (auto k = static_cast<std::size_t>(block); k < counts_.size(); k += blocks_) sum += counts_[k];
    return sum;
  }

 private:
  std::size_t blocks_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace

SparseRoom room_over_ranks(const Ranks& ranks) {
  return {RowCuts::kMostBlocks * kMostOfABlock, ranks.size(), int(ranks.neighbours().size())};
}

RowCuts cuts_by_counts(Ranks& ranks, const std::vector<std::int64_t>& counts, Index columns,
                       const std::string& name) {
  RowCuts cuts({0});
  take_in_together(ranks, name, [&] {
    if (!ranks.leads()) return;
    std::vector<std::int64_t> before(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), before.begin() + 1);
    require_storable(name, static_cast<Index>(counts.size()), columns, before.back(), room_over_ranks(ranks));
    cuts = RowCuts::by_entries(before);
    for (Index b = 0; b < cuts.blocks(); ++b) {
      const Index first = cuts.first(b), last = first + cuts.length(b);
      const std::int64_t entries =
          before[static_cast<std::size_t>(last)] - before[static_cast<std::size_t>(first)];
      if (entries > kMostOfABlock)
        refuse(name,
               fmt::format("rows {} to {}, which stay together as one of {} blocks of rows, have {} stored "
                           "entries: at most {} are supported",
                           first + 1, last, cuts.blocks(), entries, kMostOfABlock));
    }
  });
  return cuts_of_leader(ranks, cuts);
}

OwnedEntries entries_to_owners(Ranks& ranks, Index rows, Index columns, Entries<double> entries,
                               const std::string& name, int threads) {
  std::vector<std::int64_t> counts;
  take_in_together(ranks, name, [&] {
    counts.assign(static_cast<std::size_t>(rows), 0);
    count_by_row(entries.row, rows, counts.data(), threads);
  });
  add_up(ranks, counts, false);
  OwnedEntries owned{cuts_by_counts(ranks, counts, columns, name)};
  counts = std::vector<std::int64_t>();  // {} would keep its memory
  const RowCuts& cuts = owned.cuts;
  const OwnRows own(ranks, cuts);
  std::vector<std::size_t> start;
  take_in_together(ranks, name, [&] { start = group_by_block(entries, cuts, threads); });
  const EntryCounts found(ranks, start);
  for (Index b = 0; b < cuts.blocks(); ++b) owned.stored += static_cast<Index>(found.of_all(b));

  // To their owners, one list after the other: what has been sent makes room for what comes next.
  std::vector<Entries<double>> blocks(static_cast<std::size_t>(own.last_block() - own.first_block()));
  const auto block = [&](Index b) -> Entries<double>& {
    return blocks[static_cast<std::size_t>(b - own.first_block())];
  };
  const auto send = [&](auto list_of) {
    take_in_together(ranks, name, [&] {
      for (Index b = own.first_block(); b < own.last_block(); ++b) list_of(block(b)).resize(found.of_all(b));
    });
    auto& mine = list_of(entries);
    constexpr std::size_t kBytes = sizeof mine[0];
    std::vector<Parcel> outgoing, incoming;
    for (int rank = 0; rank < ranks.size(); ++rank)
      for (Index b = cuts.first_block(rank, ranks.size()); b < cuts.first_block(rank + 1, ranks.size()); ++b)
        outgoing.push_back(
            {rank, mine.data() + start[static_cast<std::size_t>(b)], found.of(ranks.rank(), b) * kBytes});
    for (Index b = own.first_block(); b < own.last_block(); ++b) {
      auto* room = list_of(block(b)).data();
      for (int rank = 0; rank < ranks.size(); ++rank) {
        incoming.push_back({rank, room, found.of(rank, b) * kBytes});
        room += found.of(rank, b);
      }
    }
    ranks.exchange(outgoing, incoming);
    std::decay_t<decltype(mine)>().swap(mine);
  };
  send([](auto& part) -> auto& { return part.row; });
  send([](auto& part) -> auto& { return part.column; });
  send([](auto& part) -> auto& { return part.value; });

  struct {
    int row = -1, column = -1;
  } twice;
  take_in_together(ranks, name, [&] {
    owned.blocks = own.blocks([&](Index b) -> DataMatrixPtr {
      if (twice.row >= 0) return nullptr;
      Entries<double> listed = std::exchange(block(b), {});
      const int first = static_cast<int>(cuts.first(b));
      for (int& row : listed.row) row -= first;
      SparseMatrix matrix = assemble(cuts.length(b), columns, listed, threads);
      listed = {};
      if (const auto position = find_duplicate(matrix, threads)) {
        twice = {first + position->first, position->second};
        return nullptr;
      }
      return data_matrix(std::move(matrix), threads);
    });
  });
  const std::vector<std::byte> all = gather(ranks, &twice, sizeof twice, true);
  for (int rank = 0; rank < ranks.size() && !owned.duplicate; ++rank) {
    std::memcpy(&twice, all.data() + static_cast<std::size_t>(rank) * sizeof twice, sizeof twice);
    if (twice.row >= 0) owned.duplicate = {twice.row, twice.column};  // owners have their rows in order
  }
  if (owned.duplicate) owned.blocks.clear();
  return owned;
}

}  // namespace pursuit::io
