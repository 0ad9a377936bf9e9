#include "objective/observed_sums.hpp"

#include "base/kernel.hpp"
#include "base/packs.hpp"

namespace pursuit {
namespace {

constexpr Index kLanes = 4;  // sums run side by side, and are added in the end

/// sum[k] = sum_e factor_e Z(index_e, k) for so many columns of Z, which lies by rows.
template <Index kColumns, class Factor>
PURSUIT_INLINE void sum_columns(const int* index, Index count, const Factor& factor, const double* Z,
                                Index width, double* sum) {
  double own[kColumns] = {};
  for (Index e = 0; e < count; ++e) {
    const double f = factor(e);
    const double* row = Z + index[e] * width;
    for (Index k = 0; k < kColumns; ++k) own[k] += f * row[k];
  }
  for (Index k = 0; k < kColumns; ++k) sum[k] = own[k];
}
template <class Factor>
PURSUIT_INLINE void sum_rows(const int* index, Index count, const Factor& factor, const double* Z,
                             Index width, double* sum) {
  Index k = 0;
  for (; k + 8 <= width; k += 8) sum_columns<8>(index, count, factor, Z + k, width, sum + k);
  for (; k + 4 <= width; k += 4) sum_columns<4>(index, count, factor, Z + k, width, sum + k);
  for (; k < width; ++k) sum_columns<1>(index, count, factor, Z + k, width, sum + k);
}

}  // namespace

PURSUIT_KERNEL void take_off_entries(const int* index, Index count, double own, const double* other,
                                     double* r) {
  for (Index e = 0; e < count; ++e) r[e] -= own * other[index[e]];
}

PURSUIT_KERNEL GroupSums sums_of(const int* index, const double* r, Index count, const double* v,
                                 const double* s) {
  double product[kLanes] = {}, norm[kLanes] = {}, squares[kLanes] = {};
  Index e = 0;
  for (; e + kLanes <= count; e += kLanes)
    for (Index l = 0; l < kLanes; ++l) {
      const int j = index[e + l];
      product[l] += r[e + l] * v[j];
      norm[l] += v[j] * v[j];
      squares[l] += s[j];
    }
  for (; e < count; ++e) {
    const int j = index[e];
    product[0] += r[e] * v[j];
    norm[0] += v[j] * v[j];
    squares[0] += s[j];
  }
  return {(product[0] + product[1]) + (product[2] + product[3]), (norm[0] + norm[1]) + (norm[2] + norm[3]),
          (squares[0] + squares[1]) + (squares[2] + squares[3])};
}

PURSUIT_KERNEL void residual_rows(const int* index, const double* r, Index count, const double* Z,
                                  Index width, double* sum) {
  sum_rows(
      index, count, [&](Index e) { return r[e]; }, Z, width, sum);
}
PURSUIT_KERNEL void weighted_rows(const int* index, const double* weights, Index count, const double* Z,
                                  Index width, double* sum) {
  sum_rows(
      index, count, [&](Index e) { return weights[index[e]]; }, Z, width, sum);
}

PURSUIT_KERNEL void take_off_rows(const int* index, const float* y, Index count, const double* own,
                                  const double* Z, Index width, double* r) {
  for (Index e = 0; e < count; ++e) {
    const double* row = Z + index[e] * width;
    double x[kLanes] = {};
    Index k = 0;
    for (; k + kLanes <= width; k += kLanes)
      for (Index l = 0; l < kLanes; ++l) x[l] += own[k + l] * row[k + l];
    for (; k < width; ++k) x[0] += own[k] * row[k];
    r[e] = double(y[e]) - ((x[0] + x[1]) + (x[2] + x[3]));
  }
}

}  // namespace pursuit
