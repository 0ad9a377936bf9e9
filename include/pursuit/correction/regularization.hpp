#pragma once
// What the factors of an atom x y^T pay beside their squared error, so that they do not follow the noise:
// rho_i x_i^2 for every entry of a factor,
//
//   none        rho_i = 0
//   ridge       rho_i = lambda, or lambda * (observed entries in row i)
//   self-tuned  rho_i = sigma^2 / tau, tau the variance of the atom's own entries and sigma^2 the noise, both
//   estimated together
//               with the uncertainty of the factors (variational Bayes): an atom that does not pay is shrunk
//               to nothing.

#include <string>

namespace pursuit {

struct Regularization {
  enum Kind { none, ridge, count_weighted_ridge, self_tuned };
  Kind kind = none;
  double lambda = 0;

  std::string spec() const;  // "none", "0.1", "0.1:count", "auto"
};

/// InvalidArgument for anything but the specs above.
Regularization parse_regularization(const std::string& spec);

}  // namespace pursuit
