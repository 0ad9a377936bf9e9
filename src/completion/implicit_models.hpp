#pragma once
// Models of implicit feedback, made of what was found.

#include "completion/implicit_factors.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/data/observed_matrix.hpp"

namespace pursuit {

CompletionModel implicit_model(const ImplicitFactors& factors, const ObservedMatrix& seen,
                               const ImplicitPrior& prior, int threads);
CompletionModel implicit_model(Expansion atoms, const ImplicitSets& sets, const ObservedMatrix& seen,
                               const ImplicitPrior& prior, int threads);

}  // namespace pursuit
