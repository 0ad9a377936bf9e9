#pragma once
// How a model came about, rank by rank.

#include <span>

#include "pursuit/algorithms/factor.hpp"

namespace pursuit {

/// The last step at every rank on the way to the model there is: where atoms were dropped and a run went
/// back, the ranks above that it had reached before belong to another model. Ranks ascend, and the last is
/// the model's.
Trace path_by_rank(const Trace& trace);

/// Which steps these are, from the ranks of all.
std::vector<Index> path_steps(std::span<const Index> ranks);

}  // namespace pursuit
