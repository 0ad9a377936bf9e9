#pragma once
// Block coordinate descent on  1/2 tr(X G X^T) - tr(P^T X)  over the columns of X, each entry alone,
// optionally >= 0: what a sweep over one side of a factorization is when the set acts on coordinates alone.

#include "pursuit/base/types.hpp"

namespace pursuit {

struct CoordinateSweep {
  bool nonnegative;
  Index first = 0;  // columns before this one stay as they are
  int passes = 1;   // over the columns, with the same P and G
  int threads = 1;
};

/// Works on tiles of rows that stay in the first cache: about one fused multiply-add per entry of X and
/// column.
void coordinate_sweep(const Matrix& P, const Matrix& G, const CoordinateSweep& options, Matrix& X);

}  // namespace pursuit
