#pragma once
// The losses at one entry y and linear predictor x. l(y, x) = varies(y, x) + constant(y), which is half the
// deviance; its slope -dl/dx, the curvature of a parabola that touches l at x and lies above it everywhere
// (`above`, where has_above; else one that steps may be tried with where they are too long), and that of l
// itself, or the best there is (`local`).

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/packs.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::losses {

/// exp to a few units in the last place, without a branch, so that loops over it become vectors.
PURSUIT_INLINE double exponential(double x) {
  x = std::min(std::max(x, -708.0), 709.0);
  constexpr double kShift = 0x1.8p52;  // whole numbers end in the low bits
  const double shifted = x * 1.4426950408889634074 + kShift, k = shifted - kShift;
  const double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return p * std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
}

PURSUIT_INLINE double sigmoid(double x) {
  const double e = exponential(-std::abs(x)), larger = 1 / (1 + e);
  return x >= 0 ? larger : e * larger;
}
/// p (1 - p) of p = sigmoid(x), with all its digits.
PURSUIT_INLINE double sigmoid_slope(double x) {
  const double e = exponential(-std::abs(x)), larger = 1 / (1 + e);
  return e * larger * larger;
}
/// log(1 + exp(x)), as 2 artanh(e / (2 + e)).
PURSUIT_INLINE double softplus(double x) {
  const double e = exponential(-std::abs(x)), s = e / (2 + e), q = s * s;
  double sum = 1.0 / 35;
#pragma GCC unroll 16
  for (int k = 33; k >= 3; k -= 2) sum = sum * q + 1.0 / k;
  return std::max(x, 0.0) + 2 * (s + s * q * sum);
}
/// Curvature of the parabola that touches softplus at x and lies above it (Jaakkola and Jordan 2000).
PURSUIT_INLINE double softplus_above(double x) {
  const double size = std::abs(x), e = exponential(-size);
  const double far = 0.5 * (1 - e) / ((1 + e) * std::max(size, 1e-3)), near = 0.25 - x * x / 48;
  return size < 1e-3 ? near : far;
}
constexpr double kLeastCurvature = 1e-4;
/// That of softplus itself, but never far below: where it vanishes a Newton step would have no bound.
PURSUIT_INLINE double softplus_local(double x) {
  return std::max(sigmoid_slope(x), kLeastCurvature * softplus_above(x));
}

inline double times_log(double y) {
  return y > 0 ? y * std::log(y) : 0.0;
}

struct Squares {
  static constexpr bool has_above = true;
  double varies(double y, double x) const { return 0.5 * (y - x) * (y - x); }
  double constant(double) const { return 0; }
  double slope(double y, double x) const { return y - x; }
  double above(double, double) const { return 1; }
  double local(double, double) const { return 1; }
};

/// Squares up to `width`, straight from there, of slope `steepness` there; `tilt` makes one side steeper. The
/// absolute error and quantiles are this with a small width.
struct Robust {
  static constexpr bool has_above = true;
  double width, steepness, tilt = 0;

  double constant(double) const { return 0; }
  double varies(double y, double x) const {
    const double r = y - x, size = std::abs(r);
    return steepness * (size <= width ? 0.5 * r * r / width : size - 0.5 * width) + tilt * r;
  }
  double slope(double y, double x) const {
    const double r = y - x;
    return steepness * r / std::max(std::abs(r), width) + tilt;
  }
  double above(double y, double x) const { return steepness / std::max(std::abs(y - x), width); }
  double local(double y, double x) const { return above(y, x); }
};

struct Bernoulli {
  static constexpr bool has_above = true;
  double varies(double y, double x) const { return softplus(x) - y * x; }
  double constant(double y) const { return times_log(y) + times_log(1 - y); }
  double slope(double y, double x) const { return y - sigmoid(x); }
  double above(double, double x) const { return softplus_above(x); }
  double local(double, double x) const { return softplus_local(x); }
};

/// Counts whose means are x itself, and at least the floor.
struct Poisson {
  static constexpr bool has_above = false;
  double floor;

  double at(double x) const { return std::max(x, floor); }
  double varies(double y, double x) const { return at(x) - (y > 0 ? y * std::log(at(x)) : 0.0); }
  double constant(double y) const { return times_log(y) - y; }
  double slope(double y, double x) const { return y / at(x) - 1; }
  double above(double y, double x) const { return local(y, x); }
  double local(double y, double x) const { return y / (at(x) * at(x)); }
};

/// log(x) of x >= 1 to about 0.06, without a branch.
PURSUIT_INLINE double rough_log(double x) {
  const std::uint64_t beyond_one = (std::bit_cast<std::uint64_t>(x) - 0x3ff0000000000000) >> 12;
  return 0.6931471805599453 * 0x1p-40 * (std::bit_cast<double>(beyond_one | 0x4330000000000000) - 0x1p52);
}
/// Under a log link the curvature vanishes on one side of the data, and Newton's step from there is far too
/// long. Beyond this ratio of mean and data `above` is that of the parabola that is lowest where the loss is.
constexpr double kFarRatio = 4;
PURSUIT_INLINE double within_far(double ratio) {
  return std::clamp(ratio, kFarRatio, 1e300);
}

struct PoissonLog {
  static constexpr bool has_above = false;
  double varies(double y, double x) const { return exponential(x) - y * x; }
  double constant(double y) const { return times_log(y) - y; }
  double slope(double y, double x) const { return y - exponential(x); }
  double above(double y, double x) const {
    const double mean = exponential(x), ratio = y / mean, far = within_far(ratio);
    return ratio > kFarRatio ? mean * (far - 1) / rough_log(far) : mean;
  }
  double local(double, double x) const { return exponential(x); }
};

/// A negative binomial of mean exp(x) is a logistic loss in x - log(size) with y + size trials.
struct NegativeBinomial {
  static constexpr bool has_above = false;  // (y + size) / 4 is far above it where size is large
  double size, log_size;
  /// Where the size is fitted, likelihoods of different sizes are compared: half the deviance is then that
  /// from the best Poisson distribution of every entry.
  bool fitted;

  explicit NegativeBinomial(double s, bool is_fitted = false)
      : size(s), log_size(std::log(s)), fitted(is_fitted) {}

  double varies(double y, double x) const { return (y + size) * softplus(x - log_size) - y * (x - log_size); }
  double constant(double y) const {
    if (y == 0) return 0;
    return fitted ? times_log(y) - y + std::lgamma(size) - std::lgamma(y + size) : -varies(y, std::log(y));
  }
  double slope(double y, double x) const { return y - (y + size) * sigmoid(x - log_size); }
  double above(double y, double x) const { return local(y, x); }
  double local(double y, double x) const { return (y + size) * sigmoid_slope(x - log_size); }
};

struct Gamma {
  static constexpr bool has_above = false;
  double varies(double y, double x) const { return y * exponential(-x) + x; }
  double constant(double y) const { return -1 - std::log(y); }
  double slope(double y, double x) const { return y * exponential(-x) - 1; }
  double above(double y, double x) const {
    const double ratio = y * exponential(-x), far = within_far(1 / ratio);
    return ratio * kFarRatio < 1 ? (1 - ratio) / rough_log(far) : ratio;
  }
  double local(double y, double x) const { return y * exponential(-x); }
};

/// The same with means that are x itself, and at least the floor. What it bends by may be negative: the local
/// curvature is the expected one.
struct ItakuraSaito {
  static constexpr bool has_above = false;
  double floor;

  double at(double x) const { return std::max(x, floor); }
  double varies(double y, double x) const { return y / at(x) + std::log(at(x)); }
  double constant(double y) const { return -1 - std::log(y); }
  double slope(double y, double x) const { return (y / at(x) - 1) / at(x); }
  double above(double y, double x) const { return local(y, x); }
  double local(double, double x) const { return 1 / (at(x) * at(x)); }
};

/// Grades by cumulative logits: P(y <= level c) = sigmoid(threshold_c - x). The probability of a grade is a
/// product of two sigmoids in x, and so the loss is a sum of two logistic ones.
struct Ordinal {
  static constexpr bool has_above = true;
  const double* lower;  // threshold below a grade, by its number from `first`; -+infinity at the ends
  const double* upper;
  double first;

  double below(double y, double x) const { return x - lower[Index(y - first)]; }  // infinite at the ends
  double beyond(double y, double x) const { return upper[Index(y - first)] - x; }
  double constant(double) const { return 0; }
  double varies(double y, double x) const {
    const double b = below(y, x), a = beyond(y, x);
    const double gap = a + b;
    return (std::isfinite(b) ? softplus(-b) : 0.0) + (std::isfinite(a) ? softplus(-a) : 0.0) -
           (std::isfinite(gap) ? std::log(-std::expm1(-gap)) : 0.0);
  }
  double slope(double y, double x) const { return sigmoid(-below(y, x)) - sigmoid(-beyond(y, x)); }
  double above(double y, double x) const {
    const double b = below(y, x), a = beyond(y, x);
    return (std::isfinite(b) ? softplus_above(b) : 0.0) + (std::isfinite(a) ? softplus_above(a) : 0.0);
  }
  double local(double y, double x) const {
    const double b = below(y, x), a = beyond(y, x);
    return (std::isfinite(b) ? softplus_local(b) : 0.0) + (std::isfinite(a) ? softplus_local(a) : 0.0);
  }
};

}  // namespace pursuit::losses
