#pragma once
// Entries on their way from whoever has them to whoever owns their rows, or their columns.

#include <vector>

#include "pursuit/base/ranks.hpp"
#include "pursuit/data/observed_entries.hpp"

namespace pursuit {

/// All ranks call it, each with some entries, and get those whose row (or column: `member`) lies between
/// first_members[rank] and the next one, in the order of ranks and, of each rank, in the order it had. Values
/// may be others than those of the entries, as many.
ObservedEntries to_owners(Ranks& ranks, const ObservedEntries& some, const std::vector<float>& values,
                          std::vector<int> ObservedEntries::*member, const std::vector<Index>& first_members,
                          int threads);

}  // namespace pursuit
