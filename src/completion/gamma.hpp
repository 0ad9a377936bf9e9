#pragma once
// Gamma and inverse-gamma random numbers, and the shape of a gamma distribution from its moments.

#include "pursuit/base/random.hpp"

namespace pursuit {

/// Gamma(shape, 1), shape > 0.
double draw_gamma(double shape, Random& random);

/// The variance of `count` Gaussian numbers of mean zero whose squares sum to `squares`, from its posterior
/// under a vague prior.
double draw_variance(double squares, double count, Random& random);

/// psi, the derivative of log Gamma.
double digamma(double x);

/// The shape a at which Gamma(a, a) has log-moments E w - E log w - 1 = gap > 0.
double gamma_shape(double gap);

}  // namespace pursuit
