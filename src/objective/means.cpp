#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

double expected_grade(const OwnTerms& own, double x) {
  const Loss logistic(Loss::bernoulli);
  double sum = own.grades[own.grades.size() - 1];
  for (Index k = 0; k < own.thresholds.size(); ++k)  // P(y <= grade k), times the step to the next grade
    sum -= logistic.mean(own.thresholds[k] - x) * (own.grades[k + 1] - own.grades[k]);
  return sum;
}

}  // namespace

double mean_of(const Loss& loss, const OwnTerms& own, double x) {
  return loss.kind == Loss::ordinal && own.grades.size() > 0 ? expected_grade(own, x) : loss.mean(x);
}

Matrix means_of(Matrix result, const Loss& loss, const OwnTerms& own, const Vector& row_scale) {
  if (own.row_offsets.size() == result.rows()) result.colwise() += own.row_offsets;
  if (own.col_offsets.size() > 0) result.rowwise() += own.col_offsets.transpose();
  result = result.unaryExpr([&](double p) { return mean_of(loss, own, p); });
  if (row_scale.size() > 0) result.array().colwise() *= row_scale.array();
  return result;
}

}  // namespace pursuit
