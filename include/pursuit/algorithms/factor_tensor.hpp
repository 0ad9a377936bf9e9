#pragma once
// Factor an array of three and more modes into structured atoms u (x) v (x) w ..., by the same pursuit as a
// matrix:
//
//   auto result = pursuit::factor_tensor(dense_tensor(unfolded, {64, 12, 10}),
//                                        AtomSets({nonneg(), nonneg(), nonneg()}, {0, 1, 2}), {.rank = 5});
//
// f has many local optima. Several starts race, the worse half of them dropped again and again, and the best
// is polished; large dense arrays are raced for on a coarser grid of their indices.

#include <vector>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {

/// Factors of a mode that are known, those of the first atoms.
struct KnownFactors {
  Index mode = 0;
  Panel factors;
};

struct TensorOptions {
  int starts = -1;      // all at once, that race; -1: as many as are cheap
  bool random = false;  // Start::leading from random members alone
  double ridge = 0;     // every factor of an atom, with its share of the weight, pays so much for its square
  std::vector<KnownFactors> known = {};  // stay as they are
};

/// The sets are those of the modes, which may share factors; `left`, `right` and what is about known factors
/// of two modes are not looked at among the options. Start::leading is all at once, from the leading
/// directions of the unfoldings brought into the sets.
FactorResult factor_tensor(const TensorPtr& Y, const AtomSets& sets, const FactorOptions& options,
                           const TensorOptions& more = {});

}  // namespace pursuit
