#pragma once
// emPCA (Sigg and Buhmann 2008): expectation maximisation for one principal axis with at most k non-zeros,
// non-negative on demand, as the authors' package nsprcomp runs it.
//
//   E   z = A u                                    the scores
//   M   u <- soft(A^T z), scaled to unit norm      where soft lowers every magnitude by the (k+1)-th largest,
//                                                  after negative entries are cut off where asked for
//
// A^T z is C u up to a factor, so the data enter by C alone. Soft thresholding shrinks the large loadings, so
// the values are found anew on the support that it leaves. Starts are random, and the best run is taken; they
// are what the method stands and falls with. Each step costs one product with C.

#include <cstdint>

#include "pursuit/baselines/component.hpp"

namespace pursuit {

struct EmpcaOptions {
  Index k = 0;  // at most so many non-zeros; 0: any number
  bool nonnegative = false;
  int restarts = 5;
  std::uint64_t seed = 0;
  PowerOptions power = {};
};

Component empca(const Covariance& C, const EmpcaOptions& options = {});

}  // namespace pursuit
