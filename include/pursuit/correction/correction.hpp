#pragma once
// Line 4 of Algorithm 2: the atoms themselves are corrected, one after the other, the others kept fixed.
//
// Rectangular, by sweeps. With the right atoms V fixed, P = Y V and G = V^T V serve all left atoms: the best
// x = alpha_i u_i is the set's fit to P_i - sum_{j != i} G_ij x_j, exactly. One sweep over both sides is two
// products with the data plus O((n + m) r^2), whatever the sets; with non-negative sets and weights it is
// HALS (Cichocki and Phan 2009). Where the multiples of both sets are convex and act on coordinates alone,
// both sides also extrapolate (Ang and Gillis 2019).
//
// Symmetric, by the oracle: the atomic power method is run from u_i on the residual without atom i.
//
// Either way a change is kept only where the objective falls.

#include <functional>
#include <limits>

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/objective/frobenius.hpp"
#include "pursuit/oracle/rank_one.hpp"

namespace pursuit {

struct CorrectionOptions {
  int sweeps = 1;                                  // at most
  double tolerance = 0;                            // stop once a sweep lowers f by less than this share of it
  Index last = std::numeric_limits<Index>::max();  // correct only so many of the newest atoms
  Index fixed_left = 0, fixed_right = 0;           // the left, right factors of the first so many atoms stay
  Sign sign = Sign::free;                          // of the weights
  bool fixed_weights = false;                      // atoms move, weights stay (convex weights)
  int threads = 1;
  OracleOptions oracle = {};                                         // of the symmetric corrections
  std::function<bool(int sweep, double objective)> keep_going = {};  // asked after every sweep
};

/// What a correction changes, always together.
struct Iterate {
  Model model;
  Vector target_products;  // <z_i, Y> for every atom
  double objective = 0;    // f
};

struct CorrectionOutcome {
  int sweeps = 0;
  bool converged = false;
};

/// Weights that a correction drives to zero are left at zero.
CorrectionOutcome correct_by_sweeps(const FrobeniusObjective& f, const Atoms& left, const Atoms& right,
                                    const CorrectionOptions& options, Iterate& iterate);
CorrectionOutcome correct_by_oracle(const FrobeniusObjective& f, const Atoms& atoms,
                                    const CorrectionOptions& options, Iterate& iterate);

/// What every entry x >= 0 of a factor pays beside the squared error: l1 x + l2/2 x^2.
struct ElasticNet {
  double l1 = 0, l2 = 0;

  double cost(const Matrix& X) const { return l1 * X.sum() + 0.5 * l2 * X.squaredNorm(); }
};

/// Y ~ left right^T, neither negative. Entries pay for their size, so the scale of a factor is its own.
struct PenalizedFactors {
  Matrix left, right;
  double objective = 0;  // 1/2 ||Y - left right^T||^2 and what both factors pay
};

/// The same sweeps on factors that pay; of the options those for sweeps, tolerance, threads and keep_going
/// count. InvalidArgument where the factors do not fit the data, are negative or not finite, or a penalty is.
CorrectionOutcome penalized_sweeps(const FrobeniusObjective& f, const ElasticNet& left,
                                   const ElasticNet& right, const CorrectionOptions& options,
                                   PenalizedFactors& factors);

}  // namespace pursuit
