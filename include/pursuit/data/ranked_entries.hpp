#pragma once
// Entries that ranks have read together and keep, each those of its part of a file.

#include <cstdint>
#include <functional>

#include "pursuit/data/observed_entries.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit {

/// Rank 0's hold on them.
struct RankedEntries {
  std::int64_t number = 0;  // under which the others keep theirs
  ObservedEntries own;      // of rank 0
  Index all = 0;            // entries of all ranks
  std::function<void()> explain_twice =
      {};  // where an entry comes twice: throws InvalidInput that says where

  Index size() const { return all; }
};

/// Takes so many random entries out, as split() does: those of all ranks, in the order of the file.
/// InvalidInput where one of them comes twice, which leads to the same part.
ObservedEntries take_out(RankTeam& team, RankedEntries& entries, Index count, std::uint64_t seed,
                         int threads = 1);

}  // namespace pursuit
