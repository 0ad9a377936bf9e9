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

/// The price beta on the excess at which the best x has none: best(beta, x) gives the best x at a price, or
/// says false where there is none. Excess falls as the price grows. `outside` is the last x with an excess
/// and `lo` its price; where some x had none it is left in `within`, and true is returned.
template <class Best>
bool search_price(const PathRoughness& path, double mean_curvature, const Best& best, Vector& x,
                  Vector& outside, Vector& within, double& lo) {
  // Beyond that constant vectors make the matrix indefinite.
  double hi = mean_curvature / path.lambda;
  bool met = false;
  constexpr int kSteps = 200;
  for (int step = 0; step < kSteps && hi - lo > 1e-15 * hi; ++step) {
    const double beta = 0.5 * (lo + hi);
    if (!best(beta, x)) {
      hi = beta;
      continue;
    }
    const double over = path.excess(x);
    if (over > 0) {
      lo = beta;
      outside = x;
      continue;
    }
    hi = beta;
    within = x;
    met = true;
    if (over > -1e-13 * path.lambda * x.squaredNorm()) break;
  }
  return met;
}

/// Smooth vectors without a negative entry.
AtomSetPtr nonneg_smooth(double lambda);

}  // namespace pursuit
