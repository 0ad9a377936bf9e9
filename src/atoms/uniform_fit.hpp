#pragma once
// The fit to parabolas of one curvature: the best member, or its negative where that is no member and more
// is gained by it.

#include "atoms/scratch.hpp"
#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

/// maximize(side, g, u): u = the best member along g, which is b (side 1) or -b (side -1).
template <class Maximize>
double uniform_fit(const Maximize& maximize, bool symmetric, double curvature, ConstVectorRef b, Sign sign,
                   VectorRef u) {
  maximize(1, b, u);
  double gain = b.dot(u);
  if (sign == Sign::free && !symmetric) {
    Scratch minus(b.size()), opposite(b.size());
    minus = -b;
    maximize(-1, minus, opposite);
    if (const double other = b.dot(opposite); other < 0 && -other > gain) {
      u = opposite;
      gain = other;
    }
  }
  if (sign == Sign::nonnegative) gain = std::max(gain, 0.0);
  return gain != 0 ? gain / (curvature * u.squaredNorm()) : 0.0;
}

}  // namespace pursuit
