#pragma once
// GPower (Journee, Nesterov, Richtarik and Sepulchre 2010), one component at a time. Over unit x in R^n, with
// a_i the columns of the data, maximise the convex function
//
//   l1:  sum_i ( |a_i^T x| - gamma )_+^2             l0:  sum_i ( (a_i^T x)^2 - gamma )_+
//
// by x <- its gradient, scaled. The loadings are the thresholded products a_i^T x, and only they are kept
// here: with u the loadings, x = A u / ||A u|| and the products are C u / sqrt(u^T C u), C = A^T A. So the
// data enter by C alone, and gamma is in its units (l0) or their square root (l1): with C a covariance,
// variances and standard deviations.
//
// The start is the column of largest norm. Once the support is known, the values on it are found anew without
// a penalty (the authors' post-processing). Each step costs one product with C.

#include "pursuit/baselines/component.hpp"

namespace pursuit {

enum class Penalty { l0, l1 };

/// The smallest gamma for which every loading is zero.
double largest_gamma(const Covariance& C, Penalty penalty);

/// Needs 0 <= gamma < largest_gamma.
Component generalized_power(const Covariance& C, Penalty penalty, double gamma,
                            const PowerOptions& options = {});

/// By bisection, the gamma whose component has k non-zeros; as many below k as can be had where none has.
struct PenaltySearch {
  Component component;
  double gamma = 0;
};
PenaltySearch generalized_power_search(const Covariance& C, Penalty penalty, Index k,
                                       const PowerOptions& options = {});

}  // namespace pursuit
