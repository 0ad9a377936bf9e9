#pragma once
// Principal components with structured loadings. Rows of the data are samples, columns are variables.
//
// The components maximise what users mean by explained variance: the share of the variance inside the *span*
// of the loadings. That is the factorization A ~ Z U^T of the centred data with free scores Z and structured
// loadings U. With dense loadings it is PCA, by Lanczos. Otherwise it is a search among local maxima, as long
// as `effort` says.
//
// Cost of a sweep: two products with the data (or, where there are more samples than variables, with their p
// x p root).

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "pursuit/algorithms/explained_variance.hpp"
#include "pursuit/algorithms/factor.hpp"

namespace pursuit {

struct PcaOptions {
  Index components = 5;
  Atoms atoms = sphere();  // of the loadings
  std::vector<Index> nonzeros =
      {};  // of component 1, 2, ... instead of one bound for all; with atoms sphere or nonneg
  Index total_nonzeros =
      0;  // or of all components together, shared out where they explain most; 0: no such bound
  double orthogonality =
      0;  // cost of overlap: share of the variance per squared inner product of two loadings
  bool correlation = false;             // every variable scaled to unit variance
  std::vector<std::string> names = {};  // of the variables, for messages
  Matrix initial = {};  // p x k, k <= components: loadings that the search begins from too, its end being no
                        // worse; other components join them
  enum class Effort {
    low,
    normal,
    high
  } effort = Effort::normal;  // one start; about a second; about a minute
  std::uint64_t seed = 0;
  int threads = 1;  // beside those of products with the data; 0: all cores
  double time_limit = std::numeric_limits<double>::infinity();
  Observer observer = {};
  CheckpointsPtr checkpoints = {};  // where the state of the run is kept
};

struct PcaResult {
  Matrix loadings;  // p x r, one unit column per component
  Matrix scores;    // n x r: the least-squares coordinates of the centred rows in the loadings; empty for a
                    // covariance
  Vector means, deviations;                        // p; deviations where correlation was asked for
  double explained_plain = 0, explained_span = 0;  // see ExplainedVariance
  Vector explained_shares;                         // of the span, by component
  int sweeps = 0;
  double seconds = 0;
  Stop stop = Stop::rank_reached;  // or no_ascent: fewer directions vary
};

/// InvalidInput names constant columns where correlation is asked for.
PcaResult pca(const DataMatrixPtr& samples, const PcaOptions& options = {});

/// The same from a covariance or correlation matrix alone. InvalidInput where it is not symmetric or not
/// positive semidefinite.
PcaResult pca_of_covariance(const Matrix& covariance, const PcaOptions& options = {});

/// The factorization of the centred data, with scores of unit norm.
Expansion factorization_of(const PcaResult& result);

/// Coordinates in the loadings, given projections A U on them: A U (U^T U)^-1.
Matrix least_squares_scores(const Matrix& loadings, const Matrix& projections);

}  // namespace pursuit
