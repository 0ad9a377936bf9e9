#pragma once
// The truncated power method (Yuan and Zhang 2013): maximise u^T C u over unit vectors with at most k
// non-zeros by
//
//   u <- the k largest |entries| of C u, scaled to unit norm,
//
// and the same for any atom set, with its oracle in the place of the truncation. On a positive semidefinite C
// the values never fall; where Hotelling's deflation has left an indefinite one, a falling step is taken back
// and C shifted, as the authors advise. Each step costs one product with C and one call of the oracle.
//
// Corrections, as the paper applies them to sparse PCA: in turn, every loading is found anew on what the
// deflation by all the others leaves, starting from where it is.

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/baselines/component.hpp"

namespace pursuit {

enum class PowerStart {
  heaviest,  // the coordinate of largest variance
  leading,   // the leading eigenvector and its opposite; the better result is taken
};

/// From each column of `starts`, which need not be members; the best result.
Component truncated_power(const LinearOperator& C, const Atoms& atoms, const Matrix& starts,
                          const PowerOptions& options = {});
Component truncated_power(const Covariance& C, const Atoms& atoms, PowerStart start = PowerStart::heaviest,
                          const PowerOptions& options = {});

/// p x 1 or p x 2.
Matrix power_starts(const Covariance& C, PowerStart start);

/// Column i is found anew in the set of atom i, the others deflated.
Matrix correct_components(const Covariance& C, Matrix U, const Atoms& atoms, int sweeps,
                          Deflation deflation = Deflation::orthogonal_projection,
                          const PowerOptions& options = {});

}  // namespace pursuit
