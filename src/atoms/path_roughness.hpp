#pragma once
// The cone x^T (L - lambda I) x <= 0 of vectors whose neighbours differ little, L the Laplacian of the path.

#include <algorithm>
#include <cmath>

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

struct PathRoughness {
  double lambda;

  /// x^T (L - lambda I) y.
  double excess(ConstVectorRef x, ConstVectorRef y) const {
    const Index m = x.size() - 1;
    return (x.tail(m) - x.head(m)).dot(y.tail(m) - y.head(m)) - lambda * x.dot(y);
  }
  double excess(ConstVectorRef x) const { return excess(x, x); }

  /// The t > 0 at which x + t d enters the cone, given that x is outside and d, or x + d, within.
  double crossing(ConstVectorRef x, ConstVectorRef d) const {
    const double square = excess(d), mixed = excess(x, d), rest = excess(x);
    // square t^2 + 2 mixed t + rest = 0: the first root above 0, written without cancellation.
    const double root = std::sqrt(std::max(mixed * mixed - square * rest, 0.0));
    return mixed < 0 ? rest / (root - mixed) : -(mixed + root) / square;
  }
};

/// Smooth vectors without a negative entry.
AtomSetPtr nonneg_smooth(double lambda);

}  // namespace pursuit
