#pragma once
// Sums over the entries of a group of observed entries, which meet rows of the other mode: the loops that
// ObservedSides is made of. `index` has the place along the other mode, `r` the residual.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// r_e -= own * other[index_e].
void take_off_entries(const int* index, Index count, double own, const double* other, double* r);

struct GroupSums {
  double product = 0, norm = 0, squares = 0;  // of r v, v^2 and s
};
GroupSums sums_of(const int* index, const double* r, Index count, const double* v, const double* s);

/// sum = sum_e r_e Z.row(index_e), Z by rows, and the same with weights of the other mode in the place of r.
void residual_rows(const int* index, const double* r, Index count, const double* Z, Index width, double* sum);
void weighted_rows(const int* index, const double* weights, Index count, const double* Z, Index width,
                   double* sum);

/// r_e = y_e - <own, Z.row(index_e)>.
void take_off_rows(const int* index, const float* y, Index count, const double* own, const double* Z,
                   Index width, double* r);

}  // namespace pursuit
