#pragma once
// Sweeps over factors whose entries are free of each other, by ranks that own rows and columns of the matrix:
// each has its part of both factors, and rank 0 decides. Between two sweeps go Gram matrices, and of the
// factors what products need to see of them.

#include <optional>

#include "correction/run_ahead.hpp"
#include "data/ranked_rows.hpp"

namespace pursuit {

/// run_ahead_sweeps() of a matrix over ranks; empty where the target is none, or something is asked that
/// ranks do not share.
std::optional<CorrectionOutcome> sweeps_over_ranks(const Target& Y, const std::vector<FreeMode>& modes,
                                                   const CorrectionOptions& options, PenalizedFactors& good,
                                                   Vector& products);

/// The part of a rank that follows.
void follow_sweeps(const RankedRows& rows);

}  // namespace pursuit
