#include "pursuit/objective/means.hpp"

#include <algorithm>
#include <cmath>

#include "objective/loss_functions.hpp"

namespace pursuit {
namespace {

constexpr double kLeastProbability = 1e-12;  // rounding makes no prediction a certainty

/// Calls visit(grade, probability) for every grade.
template <class Visit>
void for_grades(const OwnTerms& own, double x, const Visit& visit) {
  double below = 0;
  for (Index k = 0; k < own.grades.size(); ++k) {
    const double upto = k < own.thresholds.size() ? losses::sigmoid(own.thresholds[k] - x) : 1.0;
    visit(own.grades[k], upto - below);
    below = upto;
  }
}

template <class Point>
double whole_cost(const Point& loss, double y, double x) {
  return loss.varies(y, x) + loss.constant(y);
}

}  // namespace

double mean_of(const Loss& loss, const OwnTerms& own, double x) {
  if (loss.kind != Loss::ordinal || own.grades.size() == 0) return loss.mean(x);
  double sum = 0;
  for_grades(own, x, [&](double grade, double probability) { sum += probability * grade; });
  return sum;
}

double variance_of(const Loss& loss, const OwnTerms& own, double x) {
  const double mean = mean_of(loss, own, x);
  switch (loss.kind) {
    case Loss::bernoulli: return losses::sigmoid_slope(x);
    case Loss::poisson:
    case Loss::poisson_log: return std::max(mean, 0.0);
    case Loss::negative_binomial: return mean + mean * mean / (own.size > 0 ? own.size : loss.parameter);
    case Loss::gamma:
    case Loss::itakura_saito: return mean * mean;
    case Loss::ordinal: {
      double sum = 0;
      for_grades(own, x, [&](double grade, double probability) {
        sum += probability * (grade - mean) * (grade - mean);
      });
      return sum;
    }
    default: return 1;
  }
}

double cost_of(const Loss& loss, const OwnTerms& own, double y, double x) {
  switch (loss.kind) {
    case Loss::squares: return whole_cost(losses::Squares{}, y, x);
    case Loss::huber: return whole_cost(losses::Robust{loss.parameter, loss.parameter}, y, x);
    case Loss::absolute: return std::abs(y - x);
    case Loss::quantile: return 0.5 * std::abs(y - x) + (loss.parameter - 0.5) * (y - x);
    case Loss::bernoulli: return whole_cost(losses::Bernoulli{}, y, x);
    case Loss::poisson: return whole_cost(losses::Poisson{0}, y, x);
    case Loss::poisson_log: return whole_cost(losses::PoissonLog{}, y, x);
    case Loss::negative_binomial: {
      const bool fitted = loss.parameter == 0;
      return whole_cost(losses::NegativeBinomial(own.size > 0 ? own.size : loss.parameter, fitted), y, x);
    }
    case Loss::gamma: return whole_cost(losses::Gamma{}, y, x);
    case Loss::itakura_saito: return whole_cost(losses::ItakuraSaito{0}, y, x);
    case Loss::ordinal: break;
  }
  double found = 0;
  for_grades(own, x, [&](double grade, double probability) { found += grade == y ? probability : 0.0; });
  return -std::log(std::max(found, kLeastProbability));
}

Matrix means_of(Matrix result, const Loss& loss, const OwnTerms& own, const Vector& row_scale) {
  if (own.row_offsets.size() == result.rows()) result.colwise() += own.row_offsets;
  if (own.col_offsets.size() > 0) result.rowwise() += own.col_offsets.transpose();
  result = result.unaryExpr([&](double p) { return mean_of(loss, own, p); });
  if (row_scale.size() > 0) result.array().colwise() *= row_scale.array();
  return result;
}

}  // namespace pursuit
