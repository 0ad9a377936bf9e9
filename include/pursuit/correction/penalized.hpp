#pragma once
// Non-negative factors that pay for their size, by the sweeps of corrections with the price in P and G.

#include "pursuit/correction/correction.hpp"
#include "pursuit/objective/full_squares.hpp"

namespace pursuit {

/// Y ~ left right^T, neither negative. Entries pay for their size, so the scale of a factor is its own.
struct PenalizedFactors {
  Factors factors;
  double objective = 0;  // 1/2 ||Y - left right^T||^2 and what both factors pay
};

/// Of the options those for sweeps, tolerance, threads and keep_going count. InvalidArgument where the
/// factors do not fit the data, are negative or not finite, or a penalty is.
CorrectionOutcome penalized_sweeps(const Target& Y, const ElasticNet& left, const ElasticNet& right,
                                   const CorrectionOptions& options, PenalizedFactors& factors);

/// The same with the objective of another loss of a matrix, one that has free sweeps, in the place of
/// squares. Where `right_stays` the left factor alone moves, every row to its own minimum.
CorrectionOutcome penalized_sweeps(Objective& f, const ElasticNet& left, const ElasticNet& right,
                                   const CorrectionOptions& options, bool right_stays,
                                   PenalizedFactors& factors);

}  // namespace pursuit
