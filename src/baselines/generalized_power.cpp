#include "pursuit/baselines/generalized_power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/thresholded_power.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

Component penalized_power(const Covariance& C, Penalty penalty, double gamma, const PowerOptions& options) {
  return thresholded_power(C, heaviest_coordinate(C).u, options,
                           [&](const Vector& g, double value) -> Vector {
                             const Vector products = g / std::sqrt(value);  // a_i^T x
                             return products.unaryExpr([&](double t) {
                               if (penalty == Penalty::l0) return t * t > gamma ? t : 0.0;
                               return std::abs(t) > gamma ? t - std::copysign(gamma, t) : 0.0;
                             });
                           });
}

Index cardinality(const Vector& u) {
  return (u.array() != 0).count();
}

}  // namespace

double largest_gamma(const Covariance& C, Penalty penalty) {
  const double largest = std::max(C.variances().maxCoeff(), 0.0);
  return penalty == Penalty::l0 ? largest : std::sqrt(largest);
}

Component generalized_power(const Covariance& C, Penalty penalty, double gamma, const PowerOptions& options) {
  if (const double largest = largest_gamma(C, penalty); !(gamma >= 0 && gamma < largest))
    throw InvalidArgument(fmt::format(
        "gamma {}: must be at least 0 and below {}, from where on every loading is zero", gamma, largest));
  return refit_on_support(C, penalized_power(C, penalty, gamma, options), false, options);
}

PenaltySearch generalized_power_search(const Covariance& C, Penalty penalty, Index k,
                                       const PowerOptions& options) {
  if (k < 1 || k > C.rows())
    throw InvalidArgument(fmt::format("{} non-zeros: allowed are 1..{}", k, C.rows()));
  constexpr int kBisections = 25;  // the cardinality can jump past k: no gamma may have it
  double sparse_end = largest_gamma(C, penalty), dense_end = 0;
  PenaltySearch best{heaviest_coordinate(C), sparse_end};
  for (int step = 0; step < kBisections && cardinality(best.component.u) != k; ++step) {
    const double gamma = k == C.rows() && step == 0 ? 0 : (sparse_end + dense_end) / 2;
    const Component found = penalized_power(C, penalty, gamma, options);
    const Index count = cardinality(found.u);
    if (count > k) {
      dense_end = gamma;
    } else {
      sparse_end = gamma;
      if (count > cardinality(best.component.u)) best = {found, gamma};
    }
  }
  best.component = refit_on_support(C, best.component, false, options);
  return best;
}

}  // namespace pursuit
