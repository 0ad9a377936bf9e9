#pragma once
// What pursuits over arrays with gaps, weights or a loss begin and end with.

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit {

/// InvalidArgument where sets, weights and rank do not fit f.
void require_sets_for(const Objective& f, const AtomSets& sets, const FactorOptions& o);

/// f moves to random members, all at once; places without entries get nothing of them.
void start_at_random(const ObservedTensor& data, const AtomSets& sets, const FactorOptions& o, Objective& f);

/// Signs are nobody's choice where a set is symmetric: weights positive, and of the modes with such sets all
/// but the first have their largest entry positive.
void settle_signs_of_modes(const AtomSets& sets, Expansion& model);

}  // namespace pursuit
