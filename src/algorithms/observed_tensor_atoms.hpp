#pragma once
// What pursuits over arrays with gaps, weights or a loss begin with.

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit {

/// InvalidArgument where sets, weights and rank do not fit f.
void require_sets_for(const Objective& f, const AtomSets& sets, const FactorOptions& o);

/// The panels of all modes, as make_objective() takes them, where some are shared. InvalidArgument where sets
/// do not fit the array.
std::vector<Index> sharing_of(const AtomSets& sets, const ObservedTensor& data);

/// f moves to random members, all at once; places without entries get nothing of them.
void start_at_random(const ObservedTensor& data, const AtomSets& sets, const FactorOptions& o, Objective& f);

}  // namespace pursuit
