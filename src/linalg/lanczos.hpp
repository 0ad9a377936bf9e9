#pragma once
// Leading singular triplets and eigenpairs of operators, each as accurate as its own size allows.
//
// Lanczos on A^T A is fast, because one product with A and one with its transpose serve a whole block and
// only the shorter side needs an orthonormal basis. But values squared are drowned by the rounding errors of
// the largest: three orders of magnitude below it nothing is left. So the search goes in stages: what is
// accurate is taken out of the matrix, on both sides, and the rest is searched again, on its own scale.

#include <functional>

#include "pursuit/base/run.hpp"
#include "pursuit/linalg/linear_operator.hpp"

namespace pursuit {

/// Told the number of products so far and the values found so far (of A; descending magnitudes, from below);
/// false ends the search, which keeps what it has.
using KeepGoing = std::function<bool(int products, const Vector& values)>;

/// Asks the run, which must outlive it, about the `count` leading values of an operator of this squared norm.
/// A product is a step: where the run has checkpoints the search has to be given them too.
KeepGoing asking(Run& run, Index count, double squared_norm);

struct SingularTriplets {
  Matrix left, right;
  Vector values;          // descending, all above rounding: there may be fewer than asked for
  bool converged = true;  // false: the search was ended before, and these are the best so far
};

/// Where values are right to rounding, which are good to the square of their vectors: |A^T u - s v| over s.
inline constexpr double kUsualResidual = 1e-8;

/// The `count` leading singular triplets, up to residuals of `tolerance` times their values.
SingularTriplets truncated_svd(const LinearOperator& A, Index count, const KeepGoing& keep_going = {},
                               double tolerance = kUsualResidual, Checkpoints* checkpoints = nullptr);

struct EigenPairs {
  Matrix vectors;
  Vector values;
  bool converged = true;
};

/// Eigenpairs of a symmetric operator, of the largest magnitude or (`positive_only`) the largest positive
/// ones.
EigenPairs leading_eigenpairs(const LinearOperator& C, Index count, bool positive_only,
                              const KeepGoing& keep_going = {}, double tolerance = kUsualResidual,
                              Checkpoints* checkpoints = nullptr);

}  // namespace pursuit
