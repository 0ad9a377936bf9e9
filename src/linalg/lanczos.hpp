#pragma once
// Leading singular triplets and eigenpairs of operators, by Lanczos with implicit restarts (Spectra).

#include "pursuit/linalg/linear_operator.hpp"

namespace pursuit {

struct SingularTriplets {
  Matrix left, right;
  Vector values;  // descending, all above rounding: there may be fewer than asked for
};

/// The `count` leading singular triplets. Lanczos on the Gram matrix of the shorter side, one pass over a
/// sparse matrix per step, then a Rayleigh-Ritz step on the matrix itself, which restores the accuracy
/// squaring cost.
SingularTriplets truncated_svd(const LinearOperator& A, Index count);

struct EigenPairs {
  Matrix vectors;
  Vector values;
};

/// Eigenpairs of a symmetric operator, of the largest magnitude or (`positive_only`) the largest positive
/// ones.
EigenPairs leading_eigenpairs(const LinearOperator& A, Index count, bool positive_only);

}  // namespace pursuit
