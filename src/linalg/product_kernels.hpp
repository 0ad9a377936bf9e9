#pragma once
// The innermost loops of dense products: they add the product of a part of a matrix with a panel to sums.

#include <algorithm>
#include <cstddef>

#include "base/kernel.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit {

inline constexpr Index kPlaces = 128;          // products that are added before the sum goes to memory
inline constexpr std::size_t kHalfBytes = 32;  // of the widest vectors
template <class Scalar, std::size_t bytes>
struct Vectors {
  typedef Scalar Type __attribute__((vector_size(bytes)));
};
template <class Scalar>
inline constexpr Index kHalf = Index(kHalfBytes / sizeof(Scalar));  // panels are packed in multiples of it

/// Part of a matrix: row i of the result and place k of the sums meet at data[i * stride + k] where sums go
/// along lines, at data[i + k * stride] where they go across.
template <class Scalar>
struct Part {
  const Scalar* data;
  Index stride, rows, places;
};

/// Adds to sums, rows of them `sums_stride` apart, the product with a packed panel whose rows are as wide as
/// so many halves: no more than most_halves() of the level.
template <class Scalar>
using AddTiles = void (*)(Index halves, const Part<Scalar>&, const Scalar* panel, double* sums,
                          Index sums_stride);
template <class Scalar>
AddTiles<Scalar> tiles_adding(bool along, KernelLevel level);
inline Index most_halves(KernelLevel level) {
  return level == KernelLevel::v4 ? 6 : 2;
}

/// The same for a panel of one or two columns, as they are, `v_stride` apart. Sums of a column lie together.
template <class Scalar>
using AddThin = void (*)(const Part<Scalar>&, const double* v, Index v_stride, double* sums,
                         Index sums_stride);
template <class Scalar>
AddThin<Scalar> thin_adding(Index columns, bool along);

}  // namespace pursuit
