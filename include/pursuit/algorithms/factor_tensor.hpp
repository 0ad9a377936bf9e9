#pragma once
// Factor an array of three and more modes into structured atoms u (x) v (x) w ..., by the same pursuit as a
// matrix:
//
//   auto result = pursuit::factor_tensor(dense_tensor(unfolded, {64, 12, 10}),
//                                        AtomSets({nonneg(), nonneg(), nonneg()}, {0, 1, 2}), {.rank = 5});

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {

/// The sets are those of the modes, which may share factors; `left`, `right` and what is about known factors
/// of two modes are not looked at among the options. Start::leading is all at once, from random members.
FactorResult factor_tensor(const TargetPtr& Y, const AtomSets& sets, const FactorOptions& options);

}  // namespace pursuit
