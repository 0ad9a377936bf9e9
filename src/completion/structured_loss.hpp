#pragma once
// What structured completion does of its own under a loss that is not plain squares.

#include "completion/units.hpp"
#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/completion/model.hpp"
#include "pursuit/data/observed_entries.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit {

/// Whether entries of rows and of columns in the atoms of a model may be negative.
void note_signs(const WeightRule& weights, const Atoms& left, const Atoms& right, CompletionModel& model);

/// Beyond 2^kFarUnit sizes are too far from one for what is not in the unit of the data.
constexpr int kFarUnit = 40;

/// The unit in which data under a loss are completed: a power of two, and 1 where sizes are what counts, or
/// where they are near enough to it under losses of counts and under log links.
double unit_under(const Loss& loss, const ValueRange& values);
Loss in_unit(Loss loss, double unit);

/// A ridge of the user's: what factors pay has to stay what it was to f.
double ridge_in_unit(const Loss& loss, double ridge, double unit);

/// A model of data that were divided by a unit becomes that of the data.
void leave_unit(double unit, CompletionModel& model);

/// What errors of held-out entries, as mean_error has them, are multiplied by with the data.
double unit_of_errors(const Loss& loss, double unit);

/// Weights as values of the entries that they belong to; nothing for no weights.
EntryWeights weights_of(const ObservedEntries& weights);

/// Offsets become those of rows and columns, the rest the terms of the loss.
void take_terms(const OwnTerms& terms, CompletionModel& model);

/// Offsets of members without entries are those of the others on average.
void average_offsets_of_unseen(CompletionSide& side);

/// What multiplies the variance that means bring with them, by the entries seen, which are divided by `unit`.
double dispersion_of(const CompletionModel& model, const GroupedEntries& seen, double unit);

}  // namespace pursuit
