#pragma once
#include <utility>
#include <vector>

#include "algorithms/expansion_space.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/correction/regularization.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// Algorithm 2 from the iterate of f, which moves; of every panel the factors of the first `known` atoms
/// stay.
void pursue_atoms(Objective& f, const FactorOptions& o, const AtomSets& sets, const std::vector<Index>& known,
                  const Regularization& regularization, Run& run, FactorResult& result,
                  FirstWeights first = FirstWeights::fitted);
inline void pursue_atoms(Objective& f, const FactorOptions& o, const AtomSets& sets,
                         const std::vector<Index>& known, Run& run, FactorResult& result) {
  pursue_atoms(f, o, sets, known, {}, run, result);
}

/// The same once more, from where f has been moved to after pursue_atoms, by so many sweeps: the trace goes
/// on.
void pursue_further(Objective& f, const FactorOptions& o, const AtomSets& sets,
                    const std::vector<Index>& known, const Regularization& regularization, double before,
                    int sweeps, Run& run, FactorResult& result);

/// The result for the data themselves, from that for the data times `scale`, which makes f larger by its
/// power of `degree`; InvalidInput where weights overflow.
void undo_scale(double scale, FactorResult& result, int degree = 2);

/// The other way round, where zeros get no sign: nobody wants to read -0.
template <class Factor>
void turn(Factor&& factor) {
  factor = (0 - factor.array()).matrix().eval();
}

/// Signs are nobody's choice where a set is symmetric: weights positive, and of the modes with such sets all
/// but the first have their largest entry positive. Factors of the first `known` atoms of a panel stay.
void settle_signs_of_modes(const AtomSets& sets, const std::vector<Index>& known, Expansion& model);

}  // namespace pursuit
