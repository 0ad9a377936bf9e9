#pragma once
// Single columns and rows of an operator that is known by its products only.

#include <algorithm>

#include "pursuit/linalg/linear_operator.hpp"

namespace pursuit {

/// Calls use(first, E) with the columns first, first + 1, ... of the identity, a block E of them at a time.
template <class Use>
void for_unit_blocks(Index size, const Use& use) {
  constexpr Index kWidth = 64;
  for (Index first = 0; first < size; first += kWidth) {
    Matrix unit = Matrix::Zero(size, std::min(kWidth, size - first));
    unit.middleRows(first, unit.cols()).setIdentity();
    use(first, unit);
  }
}

/// The squared norm of every column, by products with the smaller of the two identities.
inline Vector squared_column_norms(const LinearOperator& A) {
  Vector result = Vector::Zero(A.cols());
  Matrix product;
  if (A.rows() < A.cols())
    for_unit_blocks(A.rows(), [&](Index, const Matrix& unit) {
      A.apply_transposed(unit, product);
      result += product.rowwise().squaredNorm();
    });
  else
    for_unit_blocks(A.cols(), [&](Index first, const Matrix& unit) {
      A.apply(unit, product);
      result.segment(first, unit.cols()) = product.colwise().squaredNorm().transpose();
    });
  return result;
}

}  // namespace pursuit
