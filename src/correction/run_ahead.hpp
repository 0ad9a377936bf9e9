#pragma once
// Sweeps over factors whose entries are free of each other, which run ahead of themselves.

#include <functional>
#include <vector>

#include "pursuit/correction/penalized.hpp"

namespace pursuit {

/// A mode whose factors are all vectors, or all that are not negative.
struct FreeMode {
  bool nonnegative;
  ElasticNet penalty = {};
};

/// Of f: while Newton steps gain more than this, they change so much that a run ahead misleads.
inline constexpr double kStepsSettled = 1e-2;

/// After an update X of a mode the others see X + beta (X - X_before), kept in the cone, once a sweep gains
/// less than this share of f. The step beta grows while f falls and shrinks where it rises; then the last
/// good factors are taken up again. `improved` is called with the last mode's factors whenever f falls.
/// Where several processes sweep over parts of the factors, `agree` says to all what one of them has decided.
CorrectionOutcome run_ahead(FreeSweeps& sweeps, const std::vector<FreeMode>& modes, double below,
                            const CorrectionOptions& options, PenalizedFactors& good,
                            const std::function<void(const Panel&)>& improved = {},
                            const std::function<bool(bool)>& agree = {});

/// Of squares, from the first sweep on. `products` becomes <y, z_k> of the atoms, where they were improved.
CorrectionOutcome run_ahead_sweeps(const Target& Y, const std::vector<FreeMode>& modes,
                                   const CorrectionOptions& options, PenalizedFactors& good,
                                   Vector& products);

/// Passes over the columns of a mode per contraction of the target. Each gains nearly as much as a whole
/// sweep, so they are worth having while they stay cheap beside the contraction.
int passes_along(const Target& Y, Index mode, Index rank);

/// f from P and G along a mode and that mode's X, nothing else having a weight.
double value_from(const Target& Y, Index mode, const Panel& P, const Matrix& G, const Panel& X);

}  // namespace pursuit
