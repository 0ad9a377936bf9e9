#pragma once
// Factor an array of which some entries are known, or under another loss than squares, by the same pursuit:
//
//   auto result = pursuit::factor_tensor(ObservedTensor{.entries = {shape, index, value}},
//                                        AtomSets({nonneg(), nonneg(), nonneg()}, {0, 1, 2}),
//                                        {.rank = 5, .weights = WeightRule::nonneg, .loss = Loss::poisson});

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit {

/// The sets are those of the modes; modes may share their factors, along which the array need not be
/// symmetric. Of the options the loss, offsets along every mode, and what is about the pursuit are looked at;
/// Start::leading is all at once, from random members.
FactorResult factor_tensor(const ObservedTensor& Y, const AtomSets& sets, const FactorOptions& options);

}  // namespace pursuit
