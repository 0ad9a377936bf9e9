#pragma once
// What self-tuned completion can be asked for.

#include "completion/weighted_entries.hpp"
#include "pursuit/completion/complete.hpp"

namespace pursuit {

/// The entries with their weights, but for those that do not count. InvalidArgument or InvalidInput, naming
/// the first option or entry that makes no sense.
WeightedEntries entries_that_count(ObservedEntries entries, const CompletionOptions& options);

/// InvalidArgument for options that make no sense, or not where entries stay with the ranks of a team.
void require_possible_apart(const CompletionOptions& options);

}  // namespace pursuit
