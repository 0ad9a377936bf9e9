#pragma once
// Factor a matrix into structured rank-one atoms (Algorithm 2):
//
//   auto result = pursuit::factor(Y, {.rank = 10, .left = pursuit::nonneg(), .right = pursuit::sparse(40)});
//   result.model.left(), result.model.right(), result.model.weights, result.relative_error
//
// An entry that a sparse matrix does not store is an observed zero. Where both sets are spheres the result is
// the truncated SVD (or eigendecomposition) and comes from Lanczos iterations, all ranks at once.

#include <concepts>
#include <cstdint>
#include <limits>

#include "pursuit/algorithms/trace.hpp"
#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/base/run.hpp"
#include "pursuit/data/data_matrix.hpp"
#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit {

/// How the first atoms come about.
enum class Start {
  greedy,  // one by one, each from the oracle on the residual (the paper): a result for every rank on the way
  leading,  // all at once, from the leading singular vectors brought into the sets: faster for large ranks
};

/// What of the known atoms is known.
enum class FixedFactors {
  both,
  left,   // the right factors are fitted; those of `initial` may be zero
  right,  // the left factors are fitted; those of `initial` may be zero
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order in which they are read
struct FactorOptions {
  Index rank = 10;
  Atoms left = sphere();
  Atoms right = sphere();
  WeightRule weights = WeightRule::free;
  Loss loss = {};                   // what an entry costs, beside which there may be
  EntryWeights entry_weights = {};  // weights of entries, rows and columns,
  bool offsets = false;             // a fitted number for every row and column, added to the atoms,
  Vector row_scale = Vector(0);     // and, of means with a log link or counts, a known scale of every row
  Start start = Start::greedy;
  Expansion initial =
      {};           // atoms to begin with, brought into the sets where they are not; `rank` counts them too
  Index fixed = 0;  // the first so many of these are known: they stay as they are, and only get weights
  FixedFactors fixed_factors = FixedFactors::both;
  bool closure = false;  // the left factors of every row are shares: not negative, of sum 1 (so that they are
                         // not of unit length); sizes are weights, and those of known right factors stay
  int corrections = 2;   // sweeps over the atoms after every new one; 0: none (ApproxGMP)
  Index correct_last = std::numeric_limits<Index>::max();  // correct only so many of the newest atoms
  int polish = 500;                                        // at most so many sweeps at the end
  double polish_tolerance = 1e-5;  // which ends when a sweep lowers the objective by less than this share (a
                                   // tenth of it under losses that are neither squares nor poisson)
  int restarts = 8;                // starts of the power method, for every atom
  int starts = -1;  // under losses: random ones that race with the greedy atoms before the polish; -1: 7
                    // where that is cheap
  std::uint64_t seed = 0;
  int threads = 0;          // 0: all cores; the result does not depend on it
  double target_error = 0;  // stop at this relative error
  double time_limit = std::numeric_limits<double>::infinity();  // seconds
  bool use_exact_path = true;   // Lanczos for spheres; false runs the pursuit all the same
  double svd_tolerance = 1e-8;  // of that: |A^T u - s v| over s, where values are right to rounding; 1e-14 is
                                // as far as rounding allows
  Observer observer = {};
  CheckpointsPtr checkpoints = {};  // where the state of the run is kept
};

struct FactorResult {
  Expansion model;
  Trace trace;
  Stop stop = Stop::rank_reached;
  double relative_error =
      0;  // ||Y - X||_F / ||Y||_F; of other losses the root of the deviance over the null's
  double objective = 0,
         null_objective = 0;  // f, half the deviance, of the model and of one that knows nothing
  OwnTerms own_terms = {};    // offsets and what else the loss has fitted
  double seconds = 0;

  double deviance() const { return 2 * objective; }
  /// Of squares the share of the squared norm.
  double deviance_explained() const { return null_objective > 0 ? 1 - objective / null_objective : 1; }
};

/// What can be factored as it is: dense or sparse, double or float.
template <class M>
concept FactorableMatrix = std::same_as<M, Eigen::MatrixXd> || std::same_as<M, Eigen::MatrixXf> ||
    std::same_as<M, SparseMatrixOf<double>> || std::same_as<M, SparseMatrixOf<float>> ||
    std::same_as<M, AnyMatrix>;

FactorResult factor(const DataMatrixPtr& Y, const FactorOptions& options = {});
FactorResult factor(const FactorableMatrix auto& Y, const FactorOptions& options = {}) {
  return factor(data_matrix(Y, options.threads), options);
}

/// Atoms u u^T for a symmetric matrix; the set is options.left, and options.right is not looked at.
FactorResult factor_symmetric(const DataMatrixPtr& C, const FactorOptions& options = {});
FactorResult factor_symmetric(const FactorableMatrix auto& C, const FactorOptions& options = {}) {
  return factor_symmetric(data_matrix(C, options.threads), options);
}

}  // namespace pursuit
