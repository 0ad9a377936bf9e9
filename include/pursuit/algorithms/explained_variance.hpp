#pragma once
// What components explain of the variance of data, counted once and for all: for principal components, for
// the published methods, for Python's estimators.

#include <functional>

#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

struct ExplainedVariance {
  double plain = 0;  // sum u^T C u / tr C: counts overlapping components twice, may exceed 1
  double span = 0;   // tr(P_U C) / tr C, P_U the projector on the span: at most what PCA explains
  Vector shares;     // of tr C, what each component adds to the span of those before it; `span` is their sum
};

/// For loadings (p x r) of centred data. Components in the span of earlier ones add nothing.
ExplainedVariance explained_variance(const DataMatrix& centered_data, const Matrix& loadings);

/// The same for a covariance C known by u^T C u for the columns of a matrix, and by its trace.
ExplainedVariance explained_variance(const std::function<Vector(const Matrix&)>& variances, double trace,
                                     const Matrix& loadings);

}  // namespace pursuit
