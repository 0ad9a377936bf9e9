#include "objective/coordinate_sweep.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/kernel.hpp"
#include "base/parallel.hpp"

namespace pursuit {
namespace {

constexpr Index kTile = 64;  // rows: eight independent chains of 512-bit multiply-adds hide their latency

/// p and x hold the tile column by column, kTile entries each.
PURSUIT_KERNEL void sweep_tile(const double* __restrict p, const double* __restrict gram, Index r,
                               Index first, int passes, double lower, double* __restrict x) {
  double step[kTile];
  for (int pass = 0; pass < passes; ++pass) {
    for (Index i = first; i < r; ++i) {
      const double* g = gram + i * r;
      if (!(g[i] > 0)) continue;
      for (Index t = 0; t < kTile; ++t) step[t] = p[i * kTile + t];
      for (Index j = 0; j < r; ++j) {
        const double weight = g[j];
        const double* column = x + j * kTile;
        for (Index t = 0; t < kTile; ++t) step[t] -= weight * column[t];
      }
      const double inverse = 1.0 / g[i];
      double* target = x + i * kTile;
      for (Index t = 0; t < kTile; ++t) {
        const double value = target[t] + step[t] * inverse;
        target[t] = value > lower ? value : lower;
      }
    }
  }
}

}  // namespace

void coordinate_sweep(const Matrix& P, const Matrix& G, const CoordinateSweep& options, Matrix& X) {
  const Index n = X.rows(), r = X.cols(), tiles = (n + kTile - 1) / kTile;
  const double lower = options.nonnegative ? 0.0 : std::numeric_limits<double>::lowest();
  constexpr Index kTilesPerTask = 8;
  parallel_for((tiles + kTilesPerTask - 1) / kTilesPerTask, options.threads, [&](Index task) {
    thread_local std::vector<double> buffer;
    buffer.assign(std::size_t(2 * r * kTile), 0.0);
    double *p = buffer.data(), *x = p + r * kTile;
    for (Index tile = task * kTilesPerTask; tile < std::min(tiles, (task + 1) * kTilesPerTask); ++tile) {
      const Index row = tile * kTile, rows = std::min(kTile, n - row);
      for (Index i = 0; i < r; ++i) {
        std::copy_n(P.data() + i * n + row, rows, p + i * kTile);
        std::copy_n(X.data() + i * n + row, rows, x + i * kTile);
      }
      sweep_tile(p, G.data(), r, options.first, options.passes, lower, x);
      for (Index i = options.first; i < r; ++i) std::copy_n(x + i * kTile, rows, X.data() + i * n + row);
    }
  });
}

}  // namespace pursuit
