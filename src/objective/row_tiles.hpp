#pragma once
// Where a row of counts and what is made of it lie while it is moved. The rows of the other factor that its
// entries meet are turned around, tile by tile, into a line for every coordinate, so that sums run along
// vectors.

#include <algorithm>

#include "objective/lanes.hpp"
#include "objective/poisson_rows.hpp"

namespace pursuit::row_tiles {

using packs::Pack;
constexpr Index kSquare = packs::kPack;  // entries and coordinates that are turned around at a time

/// Where a row and what is made of it lie while it is moved.
struct RowWork {
  const CountRow& row;
  const RowDescent& d;
  const double* background;
  double scale;
  double* u;
  Index padded, tile, line;               // entries, those of a tile, and from one line of it to the next
  double *zeros, *turned;                 // a row of zeros; a tile of the other factor, a line per coordinate
  double* products;                       // rows that are products
  double *y, *exposed, *x, *q, *t;        // of every entry: count, exposure, model, -slope, relative change
  double *slope, *sums, *step, *hessian;  // of every coordinate: -df/du of the entries, df/du, change
  Index* active;
  Index loaded = -1;  // first entry of the tile that is turned around

  Index rank() const { return d.other.rank; }
  double linear(Index k) const { return (row.exposed ? 0.0 : scale * background[k]) + d.l1 + d.l2 * u[k]; }
};

RowWork work_of(const CountRow& row, const RowDescent& d, const double* background, double scale, double* u,
                AlignedVector<double>& memory);

template <class Lane, class Bits>
struct RowTiles : lanes::Lanes<Lane, Bits> {
  using Base = lanes::Lanes<Lane, Bits>;
  using Base::at;
  using Base::kLane;

  /// The rows of the other factor that a tile of entries meets, a line of `tile` numbers for a coordinate.
  PURSUIT_INLINE static void load(RowWork& w, Index first) {
    if (w.loaded == first) return;
    w.loaded = first;
    const Index end = std::min(first + w.tile, w.padded), stride = w.d.other.stride, rank = w.rank();
    const int* index = w.row.index;
    constexpr Index kAhead = 16;
    for (Index e = first; e < end; e += kSquare) {
      const double* from[kSquare];
#pragma GCC unroll 4
      for (Index l = 0; l < kSquare; ++l)
        from[l] = e + l < w.row.size ? row_at(w.d.other, index, w.row.further, e + l, w.products + l * stride)
                                     : w.zeros;
      if (e + kAhead + kSquare <= w.row.size)
#pragma GCC unroll 4
        for (Index l = 0; l < kSquare; ++l)
          for (Index k = 0; k < stride; k += 8)
            __builtin_prefetch(w.d.other.rows + Index(index[e + kAhead + l]) * stride + k);
      double* to = w.turned + (e - first);
      for (Index k = 0; k < rank; k += kSquare) {
        Pack a[kSquare], h[kSquare];
#pragma GCC unroll 4
        for (Index l = 0; l < kSquare; ++l) std::memcpy(&a[l], from[l] + k, sizeof(Pack));
        h[0] = __builtin_shufflevector(a[0], a[1], 0, 4, 2, 6);
        h[1] = __builtin_shufflevector(a[0], a[1], 1, 5, 3, 7);
        h[2] = __builtin_shufflevector(a[2], a[3], 0, 4, 2, 6);
        h[3] = __builtin_shufflevector(a[2], a[3], 1, 5, 3, 7);
        a[0] = __builtin_shufflevector(h[0], h[2], 0, 1, 4, 5);
        a[1] = __builtin_shufflevector(h[1], h[3], 0, 1, 4, 5);
        a[2] = __builtin_shufflevector(h[0], h[2], 2, 3, 6, 7);
        a[3] = __builtin_shufflevector(h[1], h[3], 2, 3, 6, 7);
#pragma GCC unroll 4
        for (Index l = 0; l < kSquare; ++l) std::memcpy(to + (k + l) * w.line, &a[l], sizeof(Pack));
      }
    }
  }

  template <class Visit>
  PURSUIT_INLINE static void for_tiles(RowWork& w, const Visit& visit) {
    for (Index first = 0; first < w.padded; first += w.tile) {
      load(w, first);
      visit(first, std::min(w.tile, w.padded - first));
    }
  }

  /// to_e = from + sum over `count` coordinates of weight_k times the line of a coordinate.
  template <int Lanes>
  PURSUIT_INLINE static void combine_lanes(const RowWork& w, Index e, double from, Index count,
                                           const Index* lines, const double* weights, double* to) {
    Lane sum[Lanes];
#pragma GCC unroll 4
    for (Index l = 0; l < Lanes; ++l) sum[l] = Lane{} + from;
    for (Index k = 0; k < count; ++k) {
      const double weight = weights[k];
      const double* line = w.turned + lines[k] * w.line + e;
#pragma GCC unroll 4
      for (Index l = 0; l < Lanes; ++l) sum[l] += weight * at(line + l * kLane);
    }
#pragma GCC unroll 4
    for (Index l = 0; l < Lanes; ++l) at(to + e + l * kLane) = sum[l];
  }
  PURSUIT_INLINE static void combine(const RowWork& w, Index first, Index length, double from, Index count,
                                     const Index* lines, const double* weights, double* to) {
    Index e = 0;
    for (; e + 4 * kLane <= length; e += 4 * kLane)
      combine_lanes<4>(w, e, from, count, lines, weights, to + first);
    for (; e < length; e += kLane) combine_lanes<1>(w, e, from, count, lines, weights, to + first);
  }
};

}  // namespace pursuit::row_tiles
