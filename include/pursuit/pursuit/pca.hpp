#pragma once
// Principal components with structured loadings. Rows of the data are samples, columns are variables.
//
// The components maximise what users mean by explained variance: the share of the variance inside the *span*
// of the loadings. That is the factorization A ~ Z U^T of the centred data with a free left factor and
// structured loadings, so it is `factor` with a sphere on the left.

#include "pursuit/pursuit/factor.hpp"

namespace pursuit {

struct PcaOptions {
  Index components = 5;
  Atoms atoms = sphere();                            // of the loadings
  FactorOptions factor = {.start = Start::leading};  // rank, left, right and weights are set by pca
};

struct PcaResult {
  Matrix loadings;             // p x r, one unit column per component
  Matrix scores;               // n x r: the least-squares coordinates of the centred rows in the loadings
  Vector means;                // p
  double explained_plain = 0;  // sum u^T C u / tr C: counts overlapping components twice, may exceed 1
  double explained_span = 0;   // tr(P_U C) / tr C, P_U the projector on the span: at most what PCA explains
  FactorResult factorization;
};

PcaResult pca(const DataMatrixPtr& data, const PcaOptions& options = {});

/// Both definitions for given loadings (p x r) of centred data.
struct ExplainedVariance {
  double plain, span;
};
ExplainedVariance explained_variance(const DataMatrix& centered_data, const Matrix& loadings);

}  // namespace pursuit
