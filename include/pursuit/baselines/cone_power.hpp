#pragma once
// Cone-constrained PCA (Deshpande, Montanari and Richard 2014), for the cone of non-negative vectors:
// maximise u^T C u over unit u >= 0 by projected power iterations
//
//   u <- P(C u + rho u), scaled to unit norm,     P the projection on the cone: negative entries become zero.
//
// rho > 0 makes the iteration move slowly enough for their proof, which allows an indefinite C; on a
// covariance the values rise for any rho >= 0. There is no bound on the non-zeros. Each step costs one
// product with C.

#include "pursuit/baselines/component.hpp"

namespace pursuit {

Component cone_power(const Covariance& C, double rho, const Matrix& starts, const PowerOptions& options = {});

}  // namespace pursuit
