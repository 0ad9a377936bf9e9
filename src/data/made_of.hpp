#pragma once
// What matrices of any kind are made into, and what is found out by their products.

#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// A with `row` subtracted from each of its rows; formed only where products would lose digits to it.
DataMatrixPtr less_row(DataMatrixPtr A, Vector row);

/// Largest |a_ij - a_ji| of a square matrix.
double asymmetry_by_products(const LinearOperator& A);

}  // namespace pursuit
