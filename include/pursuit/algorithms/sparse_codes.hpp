#pragma once
// Codes of many signals over one dictionary D, from inner products alone: G = D^T D, C = D^T Y with a column
// for every signal, and the squared length of every signal.
//
// omp() is faster where the dictionary itself is there and nothing is asked of the way; here are the path of
// a pursuit, the lasso and least angles. Signals are coded alone: the answer does not depend on the others,
// nor on the number of threads.

#include <functional>
#include <vector>

#include "pursuit/base/run.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit {

/// Inner products of a dictionary with itself: the squared lengths, and <d_i, d_j> for all i as a function of
/// j, so that the N x N matrix need not be there.
struct GramColumns {
  Vector diagonal;
  std::function<Vector(Index)> column;
};
GramColumns gram_columns(const Matrix& gram);
GramColumns gram_columns_of(const Matrix& dictionary);  // which must stay alive

/// A pursuit of one signal, step by step.
struct OmpPath {
  std::vector<Index> atoms;     // in the order of their choice
  std::vector<Vector> weights;  // after step 1, 2, ..., of as many atoms
  double squared_error = 0;
  Stop stop = Stop::rank_reached;
};

/// Orthogonal matching pursuit that ends with `atoms` atoms or where the squared error is at most that of
/// `squared_errors` for the signal. Directions are compared, as in omp().
std::vector<OmpPath> omp_paths(const GramColumns& gram, const Matrix& products, const Vector& squared_norms,
                               Index atoms, const Vector& squared_errors, int threads = 1);

struct LassoOptions {
  double alpha = 1;
  bool nonnegative = false;
  int max_sweeps = 1000;
  double tolerance = 1e-10;  // a signal is done where its duality gap is below this share of ||y||^2
  int threads = 1;
};

struct LassoResult {
  Matrix codes;  // N x signals
  Vector gaps;   // duality gap per signal, as a share of ||y||^2: a bound of what is left to gain
  std::vector<bool> converged;
};

/// argmin of 1/2 ||y - D x||^2 + alpha ||x||_1, by coordinate descent over what is not zero, from `start` (N
/// x signals) or zero.
LassoResult lasso(const Matrix& gram, const Matrix& products, const Vector& squared_norms,
                  const LassoOptions& options, const Matrix& start = {});

/// Least angle regression, as far as `atoms` atoms go (Efron et al. 2004): N x signals.
Matrix least_angle_codes(const Matrix& gram, const Matrix& products, Index atoms, int threads = 1);

}  // namespace pursuit
