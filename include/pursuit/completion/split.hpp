#pragma once
// Entries set aside to judge by, and returned. Which ones depends on the seed and on their positions alone,
// not on the order they are in.

#include <cstdint>

#include "pursuit/data/observed_matrix.hpp"

namespace pursuit {

/// How many of so many entries are held back where this share is asked for: at most 30000, and none where too
/// few would be left to say anything.
Index count_held_back(Index entries, double share);

/// Takes a random share out of the entries.
ObservedEntries hold_back(ObservedEntries& entries, double share, std::uint64_t seed, int threads = 1);

void put_back(ObservedEntries& entries, const ObservedEntries& held_back);
/// The same where entries are grouped, which they stay.
void put_back(GroupedEntries& by_row, ObservedEntries held_back);

/// Sizes of `folds` parts of `count` entries, as equal as can be.
std::vector<Index> fold_sizes(Index count, int folds);

/// Random parts of the entries of the given sizes, which sum to entries.size().
std::vector<ObservedEntries> split(ObservedEntries entries, const std::vector<Index>& sizes,
                                   std::uint64_t seed, int threads = 1);

}  // namespace pursuit
