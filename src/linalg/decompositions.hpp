#pragma once
// Decompositions of small or thin dense matrices, in one place: templates are compiled once, and every one is
// looked at. One that fails, which takes numbers that are not finite, throws InvalidInput.

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
ThinSvd thin_svd(const Matrix& A);

/// As many orthonormal columns as the block has, or rows where these are fewer; the first span the block.
Matrix orthonormal_basis(const Matrix& block);

/// Orthonormal columns that span A, as many as it has independent ones.
Matrix independent_basis(const Matrix& A);

/// The X of least norm among those that minimise ||A X - B||.
Matrix least_squares(const ConstMatrixRef& A, const ConstMatrixRef& B);

/// R with R^T R = C for a C that is positive semidefinite; what rounding left below zero counts as zero.
/// `smallest` is told the least eigenvalue, relative to the largest magnitude, where C is not definite.
Matrix semidefinite_root(const Matrix& C, double* smallest = nullptr);

}  // namespace pursuit
