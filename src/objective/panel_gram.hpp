#pragma once
// The Gram matrix of gathered rows, in tiles that stay in registers.

#include "base/packs.hpp"

namespace pursuit {

typedef double EightDoubles __attribute__((vector_size(64), may_alias));

constexpr Index kGramLanes = 8;  // widths of rows are a multiple of this

// NOLINTNEXTLINE(readability-non-const-parameter): what is returned can be written to
PURSUIT_INLINE EightDoubles& eight(double* at) {
  return *reinterpret_cast<EightDoubles*>(at);
}
PURSUIT_INLINE const EightDoubles& eight(const double* at) {
  return *reinterpret_cast<const EightDoubles*>(at);
}

/// gram(a, b) += sum over `count` rows of left_a right_b for b >= a, with what lies in the same tiles; rows
/// of `width` one after the other, all on whole cache lines.
PURSUIT_INLINE void add_panel_gram(const double* left, const double* right, Index count, Index width,
                                   double* gram) {
  constexpr Index kTileColumns = 4;
  for (Index a = 0; a < width; a += kTileColumns)
    for (Index b = a / kGramLanes * kGramLanes; b < width; b += kGramLanes) {
      EightDoubles sum[kTileColumns];
#pragma GCC unroll 4
      for (Index t = 0; t < kTileColumns; ++t) sum[t] = eight(gram + (a + t) * width + b);
      for (Index e = 0; e < count; ++e) {
        const double* z = left + e * width;
        const EightDoubles own = eight(right + e * width + b);
#pragma GCC unroll 4
        for (Index t = 0; t < kTileColumns; ++t) sum[t] += z[a + t] * own;
      }
#pragma GCC unroll 4
      for (Index t = 0; t < kTileColumns; ++t) eight(gram + (a + t) * width + b) = sum[t];
    }
}

}  // namespace pursuit
