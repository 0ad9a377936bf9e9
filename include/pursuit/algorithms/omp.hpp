#pragma once
// Vectors over a finite dictionary: Algorithm 1 as orthogonal matching pursuit, matching pursuit or
// Frank-Wolfe, for many signals at once.
//
//   auto result = pursuit::omp(D, Y, {.atoms = 10});      // Y ~ D * result.codes, at most 10 non-zeros per
//   column
//
// The oracle compares the directions of the columns of D; codes refer to D as given, which is not copied. A
// zero column is never chosen. Cost per signal and step: O(N r) for N columns and r atoms so far, after one
// product D^T Y and, where the signals are many and it does not take far more memory than D, one D^T D. Where
// it does, many signals go in step, and a product of D^T with all their residuals serves every step.

#include <vector>

#include "pursuit/base/run.hpp"
#include "pursuit/base/types.hpp"
#include "pursuit/data/data_matrix.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit {

struct OmpOptions {
  Index atoms = 10;                       // at most so many per signal
  WeightRule weights = WeightRule::free;  // free: OMP; newest: MP; convex: Frank-Wolfe
  double target_error = 0;                // a signal stops at this relative error
  int threads = 0;                        // 0: all cores; the result does not depend on it
};

struct OmpResult {
  Eigen::SparseMatrix<double> codes;  // N x signals
  Vector relative_errors;             // per signal
  std::vector<Stop> stops;            // per signal; dependent_atom where columns are combinations of others
};

OmpResult omp(const DenseView<double>& dictionary, const Matrix& signals, const OmpOptions& options = {});
OmpResult omp(const Matrix& dictionary, const Matrix& signals, const OmpOptions& options = {});

}  // namespace pursuit
