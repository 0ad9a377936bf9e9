#pragma once
// A logistic likelihood as one of squares, by the bound of Jaakkola and Jordan (2000), which is the
// expectation over Polya-Gamma numbers of Polson, Scott and Windle (2013): an entry y in [0, 1] with log-odds
// psi says what a measurement (y - 1/2) / omega of psi says, with variance 1 / omega. Where squares get
// better, so does the likelihood.

#include <cmath>

namespace pursuit {

/// omega = tanh(psi / 2) / (2 psi).
inline double logistic_weight(double psi) {
  const double size = std::abs(psi);
  return size < 1e-3 ? 0.25 - size * size / 48 : std::tanh(0.5 * size) / (2 * size);
}

}  // namespace pursuit
