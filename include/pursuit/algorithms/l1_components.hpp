#pragma once
// Principal components whose loadings pay by their size instead of their number:
//
//   minimise 1/2 ||A - U V^T||^2 + alpha ||V||_1,     ||u_i|| <= 1,
//
// A the centred data, which is never formed. Block coordinate descent from the leading singular vectors; each
// block has its exact minimum, so the objective never rises. A sweep is two products with the data.

#include <functional>

#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

struct L1ComponentOptions {
  double alpha = 1;
  int max_sweeps = 1000;
  double tolerance = 1e-8;  // a sweep that lowers the objective by less than this share is the last
  std::function<bool(int sweep, double objective)> keep_going = {};  // asked after every sweep
};

struct L1Components {
  Matrix scores, loadings;          // U and V: n x r and p x r
  Vector means;                     // p
  double objective = 0, total = 0;  // total: 1/2 ||A||^2
  int sweeps = 0;
  bool converged = false;
};

/// Where the data have fewer directions than `components`, the last ones are zero.
L1Components l1_components(const DataMatrixPtr& data, Index components, const L1ComponentOptions& options);

/// From given scores and loadings.
L1Components l1_components(const DataMatrixPtr& data, Matrix scores, Matrix loadings,
                           const L1ComponentOptions& options);

}  // namespace pursuit
