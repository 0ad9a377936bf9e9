#pragma once
// Many non-negative least-squares problems that share their regressors:
//
//   argmin over x >= 0 of ||y - H x||^2  =  argmin of 1/2 x^T G x - c^T x,     G = H^T H,  c = H^T y
//
// one for every row of C. Coordinate steps from the clipped free solution find most of the support, the
// active-set method of constrained_weights() settles it exactly. Every row is solved alone: its answer does
// not depend on the others, nor on the number of threads.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// n x r solutions for n x r products C = Y H; threads 0 means all cores.
Matrix nonnegative_least_squares(const Matrix& gram, const Matrix& products, int threads = 1);

}  // namespace pursuit
