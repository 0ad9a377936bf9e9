#include "objective/observed_sweep.hpp"

#include <algorithm>
#include <limits>

#include "base/aligned.hpp"
#include "base/kernel.hpp"
#include "base/parallel.hpp"
#include "objective/panel_gram.hpp"

namespace pursuit {
namespace {

constexpr Index kSweepPanel = 64;  // entries whose rows of Z are gathered before their products are taken
constexpr double kSettled = 1e-3;  // of the first pass: one that moves coordinates by less is the last

/// A row that is moved: its entries, its coordinates, and memory for its system.
struct SweptRow {
  const int* index;
  const float* value;
  Index count, rank, width;
  double lower;
  const double* Z;  // rows of `width`
  double *x, *panel, *gram, *slope;
};

/// slope -= by * column k of gram.
PURSUIT_INLINE void take_off_column(const SweptRow& s, Index k, double by) {
  const double* column = s.gram + k * s.width;
  for (Index c = 0; c < s.width; c += kGramLanes) eight(s.slope + c) -= by * eight(column + c);
}

PURSUIT_INLINE double residual_of(const SweptRow& s, Index e) {
  const double* z = s.Z + s.index[e] * s.width;
  EightDoubles fit = {};
  for (Index c = 0; c < s.width; c += kGramLanes) fit += eight(s.x + c) * eight(z + c);
  return s.value[e] - (((fit[0] + fit[1]) + (fit[2] + fit[3])) + ((fit[4] + fit[5]) + (fit[6] + fit[7])));
}

/// Moves x, and returns the squared residual there.
PURSUIT_KERNEL double sweep_row(const SweptRow& s, Index first, int passes) {
  std::fill_n(s.gram, s.width * s.width, 0.0);
  std::fill_n(s.slope, s.width, 0.0);
  for (Index start = 0; start < s.count; start += kSweepPanel) {
    const Index count = std::min(kSweepPanel, s.count - start);
    for (Index e = 0; e < count; ++e) {
      const double* z = s.Z + s.index[start + e] * s.width;
      const double y = s.value[start + e];
      for (Index c = 0; c < s.width; c += kGramLanes) {
        const EightDoubles own = eight(z + c);
        eight(s.panel + e * s.width + c) = own;
        eight(s.slope + c) += y * own;
      }
    }
    add_panel_gram(s.panel, s.panel, count, s.width, s.gram);
  }
  for (Index k = 0; k < s.rank; ++k)  // the other triangle
    for (Index l = 0; l < k; ++l) s.gram[k * s.width + l] = s.gram[l * s.width + k];
  for (Index k = 0; k < s.rank; ++k) take_off_column(s, k, s.x[k]);
  double most = 0;  // gained by a pass
  for (int pass = 0; pass < passes; ++pass) {
    double gain = 0;
    for (Index k = first; k < s.rank; ++k) {
      const double curvature = s.gram[k * s.width + k];
      if (!(curvature > 0)) continue;
      const double to = std::max(s.lower, s.x[k] + s.slope[k] / curvature), by = to - s.x[k];
      if (by == 0) continue;
      s.x[k] = to;
      take_off_column(s, k, by);
      gain += curvature * by * by;
    }
    most = std::max(most, gain);
    if (gain <= kSettled * most) break;
  }
  double squares = 0;
  for (Index e = 0; e < s.count; ++e) {
    const double r = residual_of(s, e);
    squares += r * r;
  }
  return squares;
}

}  // namespace

void observed_sweep(const GroupedEntries& entries, const std::vector<Index>& cuts,
                    std::pair<Index, Index> own, const Panel& Z, const CoordinateSweep& options, Panel& X,
                    double* squares) {
  const Index rank = X.cols(), width = (rank + kGramLanes - 1) / kGramLanes * kGramLanes;
  AlignedVector<double> rows(std::size_t(Z.rows() * width), 0.0);
  for (Index k = 0; k < rank; ++k)
    for (Index j = 0; j < Z.rows(); ++j) rows[std::size_t(j * width + k)] = Z(j, k);
  parallel_for(own.second - own.first, options.threads, [&](Index number) {
    const Index piece = own.first + number;
    AlignedVector<double> memory(std::size_t(width * (width + kSweepPanel + 2)), 0.0);
    double *x = memory.data(), *slope = x + width, *panel = slope + width,
           *gram = panel + kSweepPanel * width;
    for (Index i = cuts[std::size_t(piece)]; i < cuts[std::size_t(piece) + 1]; ++i) {
      const auto start = entries.start[std::size_t(i)];
      for (Index k = 0; k < rank; ++k) x[k] = X(i, k);
      squares[piece] +=
          sweep_row({entries.index.data() + start, entries.value.data() + start, entries.count(i), rank,
                     width, options.nonnegative ? 0.0 : std::numeric_limits<double>::lowest(), rows.data(), x,
                     panel, gram, slope},
                    options.first, options.passes);
      for (Index k = options.first; k < rank; ++k) X(i, k) = x[k];
    }
  });
}

}  // namespace pursuit
