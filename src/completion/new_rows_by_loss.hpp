#pragma once
#include "pursuit/completion/model.hpp"

namespace pursuit {

/// Factors of new rows, their offset first, then the atoms, under a loss that is neither squares nor
/// bernoulli: what their entries cost, and what the rows of the model say of a row before it is seen, are
/// lowest there. Without entries a row is the average one.
Matrix factors_by_loss(const CompletionModel& model, const GroupedEntries& entries, int threads);

}  // namespace pursuit
