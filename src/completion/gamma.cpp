#include "completion/gamma.hpp"

#include <fmt/format.h>

#include <cmath>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// The loops below would not end without.
void require_shape(double shape) {
  if (!(shape > 0 && std::isfinite(shape)))
    throw InvalidArgument(
        fmt::format("shape {} of a gamma distribution: must be a finite number above 0", shape));
}

}  // namespace

double draw_gamma(double shape, Random& random) {  // Marsaglia and Tsang 2000
  require_shape(shape);
  if (shape < 1) return draw_gamma(shape + 1, random) * std::pow(1 - random.uniform(), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.gaussian(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log1p(-random.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

double draw_variance(double squares, double count, Random& random) {
  constexpr double kShape = 1,
                   kScale = 1e-4;  // of the inverse-gamma prior: one part in ten thousand of the data
  return (kScale + 0.5 * squares) / draw_gamma(kShape + 0.5 * count, random);
}

double digamma(double x) {
  require_shape(x);
  double shift = 0;
  while (x < 6) {
    shift -= 1 / x;
    x += 1;
  }
  const double inverse = 1 / x, square = inverse * inverse;
  return shift + std::log(x) - 0.5 * inverse - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

double gamma_shape(double gap) {  // Minka 2002
  return (3 - gap + std::sqrt((gap - 3) * (gap - 3) + 24 * gap)) / (12 * gap);
}

}  // namespace pursuit
