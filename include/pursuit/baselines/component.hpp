#pragma once
// One loading vector as the iterations of this room return it, and what they are told.

#include "pursuit/baselines/covariance.hpp"

namespace pursuit {

struct PowerOptions {
  int max_iterations = 1000;
  double tolerance = 1e-7;  // relative change of u^T C u under which an iteration has converged
};

struct Component {
  Vector u;             // of unit norm
  double variance = 0;  // u^T C u
  int iterations = 0;   // of the run that won, where there were several starts
};

/// The coordinate of largest variance: a start, and the best member with one non-zero.
inline Component heaviest_coordinate(const Covariance& C) {
  Index heaviest = 0;
  const double variance = C.variances().maxCoeff(&heaviest);
  return {Vector::Unit(C.rows(), heaviest), variance, 0};
}

}  // namespace pursuit
