#pragma once
// A rough truncated SVD in a handful of block products (Halko, Martinsson and Tropp 2011): for starts, which
// need directions and not digits.

#include "linalg/lanczos.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {

/// The `count` leading triplets, roughly; 2 + 2 * power_iterations block products.
SingularTriplets randomized_svd(const LinearOperator& A, Index count, int power_iterations, Random& random);

}  // namespace pursuit
