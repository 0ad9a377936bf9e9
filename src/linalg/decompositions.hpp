#pragma once
// Decompositions of dense matrices by LAPACK, in one place: nothing is compiled twice, and the outcome of
// every one is looked at. One that fails, which takes numbers that are not finite, throws InvalidInput.
//
// LAPACK runs on the calling thread alone, so that results do not depend on how many there are. Systems of a
// few unknowns, solved in inner loops, are those of linalg/cholesky.hpp.

#include "pursuit/base/types.hpp"

namespace pursuit {

struct SymmetricEigen {
  Vector values;  // ascending
  Matrix vectors;
};
/// Reads the lower triangle.
SymmetricEigen symmetric_eigen(const ConstMatrixRef& C);

struct ThinSvd {
  Matrix left;
  Vector values;  // descending
  Matrix right;
};
ThinSvd thin_svd(const ConstMatrixRef& A);

/// As many orthonormal columns as the block has, or rows where these are fewer; the first span the block.
Matrix orthonormal_basis(const ConstMatrixRef& block);

/// Orthonormal columns that span the matrix, as many as it has independent ones: what is left of the others
/// is below `tolerance` times the largest column, by default what rounding leaves.
Matrix independent_basis(const ConstMatrixRef& matrix, double tolerance = 0);

/// The X of least norm among those that minimise ||A X - B||.
Matrix least_squares(const ConstMatrixRef& A, const ConstMatrixRef& B);

/// R with R^T R = C for a C that is positive semidefinite; what rounding left below zero counts as zero.
/// `smallest` is told the least eigenvalue, relative to the largest magnitude, where C is not definite.
Matrix semidefinite_root(const Matrix& C, double* smallest = nullptr);

}  // namespace pursuit
