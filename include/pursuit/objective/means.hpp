#pragma once
// From a model to the numbers it stands for.

#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// What a model with linear predictor x says of an entry: the mean under its loss, through the inverse of the
/// link; of grades the expected one.
double mean_of(const Loss& loss, const OwnTerms& own, double x);

/// What a model says of every entry: the mean under its loss (of quantile:TAU the quantile), of x and offsets
/// through the inverse of the link, times the scale of its row; of grades the expected one.
Matrix means_of(Matrix result, const Loss& loss, const OwnTerms& own, const Vector& row_scale);
inline Matrix means_of(const Expansion& x, const Loss& loss, const OwnTerms& own, const Vector& row_scale) {
  return means_of(x.dense(), loss, own, row_scale);
}

}  // namespace pursuit
