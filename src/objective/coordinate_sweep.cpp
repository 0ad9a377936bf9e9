#include "objective/coordinate_sweep.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/aligned.hpp"
#include "base/packs.hpp"
#include "base/parallel.hpp"
#include "base/work.hpp"

namespace pursuit {
namespace {

/// A tile is some rows of P and X, held column by column.
struct Tile {
  const double* p;
  double* x;
};
struct Descent {
  const double* gram;
  Index rank, first;
  int passes;
  double lower;
};

/// Moves `Columns` columns of X, one after the other. What the other columns take from them is summed for all
/// of them at once: `Columns` x `Lanes` vectors of `bytes` stay in registers, and every number of X is read
/// once.
template <std::size_t bytes, int Lanes, int Columns>
PURSUIT_INLINE void move_columns(const Descent& d, Index i, const Tile& tile) {
  typedef double Lane __attribute__((vector_size(bytes)));
  constexpr Index kLane = Index(bytes / sizeof(double)), kRows = Lanes * kLane;
  const double* gram = d.gram + i * d.rank;
  Lane step[Columns][Lanes], own[Lanes];
#pragma GCC unroll 8
  for (int c = 0; c < Columns; ++c)
#pragma GCC unroll 8
    for (int l = 0; l < Lanes; ++l)
      std::memcpy(&step[c][l], tile.p + (i + c) * kRows + l * kLane, sizeof(Lane));
  const auto subtract_column = [&](Index j) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int l = 0; l < Lanes; ++l) std::memcpy(&own[l], tile.x + j * kRows + l * kLane, sizeof(Lane));
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      const double weight = gram[c * d.rank + j];
#pragma GCC unroll 8
      for (int l = 0; l < Lanes; ++l) step[c][l] -= weight * own[l];
    }
  };
  for (Index j = 0; j < i; ++j) subtract_column(j);
  for (Index j = i + Columns; j < d.rank; ++j) subtract_column(j);
#pragma GCC unroll 8
  for (int c = 0; c < Columns; ++c) {
    for (int k = 0; k < Columns; ++k) {
      const double weight = gram[c * d.rank + i + k];
#pragma GCC unroll 8
      for (int l = 0; l < Lanes; ++l) {
        std::memcpy(&own[l], tile.x + (i + k) * kRows + l * kLane, sizeof(Lane));
        step[c][l] -= weight * own[l];
      }
    }
    const double curvature = gram[c * d.rank + i + c];
    if (!(curvature > 0)) continue;
    const double inverse = 1.0 / curvature;
#pragma GCC unroll 8
    for (int l = 0; l < Lanes; ++l) {
      double* target = tile.x + (i + c) * kRows + l * kLane;
      std::memcpy(&own[l], target, sizeof(Lane));
      own[l] += step[c][l] * inverse;
      own[l] = own[l] > d.lower ? own[l] : Lane{} + d.lower;
      std::memcpy(target, &own[l], sizeof(Lane));
    }
  }
}

template <std::size_t bytes, int Lanes, int Columns>
PURSUIT_INLINE void sweep_tile(const Descent& d, const Tile& tile) {
  for (int pass = 0; pass < d.passes; ++pass) {
    Index i = d.first;
    for (; i + Columns <= d.rank; i += Columns) move_columns<bytes, Lanes, Columns>(d, i, tile);
    for (; i < d.rank; ++i) move_columns<bytes, Lanes, 1>(d, i, tile);
  }
}

// As many sums as there are vector registers for.
PURSUIT_KERNEL_V4 void sweep_tile_v4(const Descent& d, const Tile& tile) {
  sweep_tile<64, 4, 4>(d, tile);
}
PURSUIT_KERNEL_V3 void sweep_tile_v3(const Descent& d, const Tile& tile) {
  sweep_tile<32, 4, 2>(d, tile);
}
void sweep_tile_baseline(const Descent& d, const Tile& tile) {
  sweep_tile<16, 4, 2>(d, tile);
}

struct TileKernel {
  Index rows;
  void (*sweep)(const Descent&, const Tile&);
};
TileKernel tile_kernel(KernelLevel level) {
  switch (level) {
    case KernelLevel::v4: return {32, sweep_tile_v4};
    case KernelLevel::v3: return {16, sweep_tile_v3};
    default: return {8, sweep_tile_baseline};
  }
}

}  // namespace

void coordinate_sweep(const Matrix& P, const Matrix& G, const CoordinateSweep& options, Matrix& X,
                      KernelLevel level) {
  const TileKernel kernel = tile_kernel(level);
  const Index n = X.rows(), r = X.cols(), height = kernel.rows, tiles = (n + height - 1) / height;
  const Descent descent{G.data(), r, options.first, options.passes,
                        options.nonnegative ? 0.0 : std::numeric_limits<double>::lowest()};
  constexpr Index kTilesPerTask = 4;
  const double work = double(X.size()) * double(r - options.first) * double(options.passes);
  const auto sweep = [&](Index tile) {
    thread_local AlignedVector<double> buffer;
    buffer.resize(std::size_t(2 * r * height));
    double *p = buffer.data(), *x = p + r * height;
    const Index row = tile * height, rows = std::min(height, n - row);
    if (rows < height) std::fill(buffer.begin(), buffer.end(), 0.0);
    for (Index i = 0; i < r; ++i) {
      std::copy_n(P.data() + i * n + row, rows, p + i * height);
      std::copy_n(X.data() + i * n + row, rows, x + i * height);
    }
    kernel.sweep(descent, {p, x});
    for (Index i = options.first; i < r; ++i) std::copy_n(x + i * height, rows, X.data() + i * n + row);
  };
  parallel_for(
      (tiles + kTilesPerTask - 1) / kTilesPerTask, threads_for(work, options.threads), [&](Index task) {
        for (Index tile = task * kTilesPerTask; tile < std::min(tiles, (task + 1) * kTilesPerTask); ++tile)
          sweep(tile);
      });
}

}  // namespace pursuit
