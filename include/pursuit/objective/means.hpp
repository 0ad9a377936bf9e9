#pragma once
// From a model to the numbers it stands for.

#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// What a model with linear predictor x says of an entry: the mean under its loss (of quantile:TAU the
/// quantile), through the inverse of the link; of grades the expected one. Of the own terms those of the loss
/// alone are looked at.
double mean_of(const Loss& loss, const OwnTerms& own, double x);
/// The variance of an entry about its mean, in units of the dispersion, which is 1 where data are what the
/// loss takes them for.
double variance_of(const Loss& loss, const OwnTerms& own, double x);
/// What an entry y costs, half its deviance: minus the log-likelihood of zeros, ones and grades. The absolute
/// error and quantiles are those of their names, not smooth.
double cost_of(const Loss& loss, const OwnTerms& own, double y, double x);

/// What a model says of every entry: the mean under its loss (of quantile:TAU the quantile), of x and offsets
/// through the inverse of the link, times the scale of its row; of grades the expected one.
Matrix means_of(Matrix result, const Loss& loss, const OwnTerms& own, const Vector& row_scale);
inline Matrix means_of(const Expansion& x, const Loss& loss, const OwnTerms& own, const Vector& row_scale) {
  return means_of(x.dense(), loss, own, row_scale);
}

}  // namespace pursuit
