#pragma once
// What a pursuit is about, for its checkpoints: everything that its numbers depend on.

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/base/checkpoints.hpp"
#include "pursuit/linalg/linear_operator.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// The data, by sizes and by what products with them are; f must stand where it begins.
void identify(const Objective& f, Identity& identity);

/// Sets, by their specs and by what their oracles say: a spec may name a file, or a function.
void identify(const AtomSets& sets, const std::vector<Index>& shape, Index rank, Identity& identity);

Identity identity_of(const std::string& command, const Objective& f, const AtomSets& sets,
                     const FactorOptions& options);

/// Of components of centred data A, or of a root of their covariance.
Identity identity_of(const LinearOperator& A, const PcaOptions& options);

/// Steps of the run are kept from now on, where options say so; true where it goes on from a pursuit that was
/// kept.
bool begin_checkpoints(const std::string& command, const Objective& f, const AtomSets& sets,
                       const FactorOptions& options, Run& run);

}  // namespace pursuit
