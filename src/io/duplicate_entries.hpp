#pragma once
// Entries given twice, found with little memory beside the entries: 4 bytes for each, and none where they are
// sorted by row, as files mostly are.

#include <optional>
#include <utility>

#include "pursuit/data/observed_entries.hpp"

namespace pursuit::io {

/// The row and column of an entry that is there twice: of the first such row, whatever the number of threads.
std::optional<std::pair<int, int>> find_duplicate(const ObservedEntries& entries, int threads);

/// Of entries of the same row and column keeps the last value, or the sum of all, and the last time where
/// there are times. Sorts by row.
void merge_duplicates(ObservedEntries& entries, std::vector<double>& times, bool sum);

}  // namespace pursuit::io
