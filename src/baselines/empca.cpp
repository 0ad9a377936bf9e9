#include "pursuit/baselines/empca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "baselines/thresholded_power.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

/// Lowers every magnitude by the (k+1)-th largest, so that at most k entries stay.
Vector soft_threshold(const Vector& g, Index k) {
  if (k >= g.size()) return g;
  Vector magnitudes = g.cwiseAbs();
  std::nth_element(magnitudes.begin(), magnitudes.begin() + k, magnitudes.end(), std::greater<>());
  const double threshold = magnitudes[k];
  return g.unaryExpr(
      [&](double t) { return std::abs(t) > threshold ? t - std::copysign(threshold, t) : 0.0; });
}

}  // namespace

Component empca(const Covariance& C, const EmpcaOptions& options) {
  const Index p = C.rows(), k = options.k == 0 ? p : options.k;
  if (k < 1 || k > p) throw InvalidArgument(fmt::format("{} non-zeros: allowed are 1..{}", k, p));
  if (options.restarts < 1)
    throw InvalidArgument(fmt::format("restarts {}: at least 1 is needed", options.restarts));
  Component best = heaviest_coordinate(C);  // a member, whatever the runs find
  Random random(options.seed);
  for (int restart = 0; restart < options.restarts; ++restart) {
    Vector start = random.gaussian_matrix(p, 1);
    if (options.nonnegative) start = start.cwiseAbs();
    const Component found =
        thresholded_power(C, start.normalized(), options.power, [&](const Vector& g, double) -> Vector {
          return soft_threshold(options.nonnegative ? Vector(g.cwiseMax(0.0)) : g, k);
        });
    if ((found.u.array() != 0).count() > k) continue;  // all magnitudes tie: there was no first step
    const Component refitted = refit_on_support(C, found, options.nonnegative, options.power);
    if (refitted.variance > best.variance) best = refitted;
  }
  return best;
}

}  // namespace pursuit
