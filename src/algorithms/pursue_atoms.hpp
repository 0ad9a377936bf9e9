#pragma once
#include <vector>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// Algorithm 2 from the iterate of f, which moves; of every panel the factors of the first `known` atoms
/// stay.
void pursue_atoms(Objective& f, const FactorOptions& o, const AtomSets& sets, std::vector<Index> known,
                  Run& run, FactorResult& result);

}  // namespace pursuit
