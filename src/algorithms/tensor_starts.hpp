#pragma once
// Where the atoms of an array start all at once, and which of several starts is worth going on with.

#include <vector>

#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/correction/correction.hpp"
#include "pursuit/objective/full_squares.hpp"

namespace pursuit {

std::vector<Index> panels_of_modes(const AtomSets& sets);

/// InvalidArgument where there is not a set for every mode, or where modes that share factors differ in size.
void require_modes(const AtomSets& sets, const std::vector<Index>& shape);

/// Random members in all modes: one contraction tells nothing about which of them belong together.
Expansion random_members(const Form& Y, const AtomSets& sets, Index rank, Random& random);

/// The leading directions of every unfolding, from a sketch of it, brought into the sets.
Expansion leading_members(const Target& Y, const AtomSets& sets, Index rank, Random& random);

}  // namespace pursuit
