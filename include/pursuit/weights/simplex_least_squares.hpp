#pragma once
// Many least-squares problems with shared regressors whose coefficients are shares of a whole:
//
//   argmin of 1/2 x^T G x - c^T x   over   x >= 0,  sum x = 1
//
// one for every row of C. The last share is what the others leave, so that these are the non-negative weights
// of sum at most 1 of differences of regressors, exactly (constrained_weights()). Every row is solved alone.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// n x r shares for n x r products C = Y H, from where they are in `shares` (rows that are no shares begin in
/// the middle); threads 0 means all cores.
void simplex_least_squares(const Matrix& gram, const Matrix& products, int threads, Matrix& shares);

}  // namespace pursuit
