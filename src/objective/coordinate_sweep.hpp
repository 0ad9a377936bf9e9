#pragma once
// Block coordinate descent on  1/2 tr(X G X^T) - tr(P^T X)  over the columns of X, each entry alone,
// optionally >= 0: what a sweep over one side of a factorization is when the set acts on coordinates alone.

#include "linalg/products.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// b = P_k - sum_{j != k} G_jk x_j, what the other columns leave to column k.
inline void leave_to(Index k, const ConstMatrixRef& P, const Matrix& G, const Matrix& X, Vector& b) {
  b = P.col(k) + G(k, k) * X.col(k);
  subtract_product(X, G.col(k), b);
}

/// Works on tiles of rows that stay in the first cache: about one fused multiply-add per entry of X and
/// column.
void coordinate_sweep(const Matrix& P, const Matrix& G, const CoordinateSweep& options, Matrix& X,
                      KernelLevel level = kernel_level());

}  // namespace pursuit
