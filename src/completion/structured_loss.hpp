#pragma once
// What structured completion does of its own under a loss that is not plain squares.

#include "pursuit/completion/model.hpp"
#include "pursuit/data/observed_entries.hpp"

namespace pursuit {

/// Whether numbers of any size are the same data in another unit.
bool has_unit(const Loss& loss);
Loss in_unit(Loss loss, double unit);

/// Weights as values of the entries that they belong to; nothing for no weights.
EntryWeights weights_of(const ObservedEntries& weights);

/// Offsets become those of rows and columns, the rest the terms of the loss.
void take_terms(const OwnTerms& terms, CompletionModel& model);

/// Offsets of members without entries are those of the others on average.
void average_offsets_of_unseen(CompletionSide& side);

/// What multiplies the variance that means bring with them, by the entries seen, which are divided by `unit`.
double dispersion_of(const CompletionModel& model, const GroupedEntries& seen, double unit);

}  // namespace pursuit
