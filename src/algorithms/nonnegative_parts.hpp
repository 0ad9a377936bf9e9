#pragma once
#include <string>
#include <vector>

#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/form.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit {

/// Means that are sums of atoms must not be negative, and so must not be what they are made of: weights and
/// sets, of which `names` are those of the modes. InvalidArgument otherwise.
void require_nonnegative_parts(const WeightRule& weights, const AtomSets& sets, const Form& Y, Index rank,
                               const std::vector<std::string>& names);

}  // namespace pursuit
