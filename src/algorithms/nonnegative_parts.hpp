#pragma once
#include <string>
#include <vector>

#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/loss.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit {

/// Whether a member of the set with a negative entry is found: looked for away from ones and at random.
bool has_negative_members(const AtomSet& set, Index size);

/// Of the sets of the first `rank` atoms.
bool has_negative_members(const Atoms& sets, Index size, Index rank);

/// Means that are sums of atoms must not be negative, and so must not be what they are made of:
/// InvalidArgument where weights, or members of the sets of the first `rank` atoms, may be. `sizes` and
/// `names` are those of the modes.
void require_nonnegative_parts(const Loss& loss, const WeightRule& weights, const AtomSets& sets,
                               const std::vector<Index>& sizes, Index rank,
                               const std::vector<std::string>& names);

}  // namespace pursuit
