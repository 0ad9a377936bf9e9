#pragma once
// The objective of a loss over data, at x = 0.

#include <memory>

#include "pursuit/data/rank_team.hpp"
#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// Every entry of the data is known; one that a sparse matrix does not store is an observed zero.
/// InvalidArgument for options that do not go together, InvalidInput, naming the first entry and the losses
/// that would take it, for data outside the domain of the loss.
std::unique_ptr<Objective> make_objective(const DataMatrixPtr& data, const LossOptions& options,
                                          int threads = 1);

/// What is not listed is unknown. The ranks of a team, which outlives the objective, share plain squares.
std::unique_ptr<Objective> make_objective(const ObservedEntries& data, const LossOptions& options,
                                          int threads = 1, RankTeam* team = nullptr);

}  // namespace pursuit
