#include "pursuit/correction/penalized.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "correction/progress.hpp"
#include "correction/run_ahead.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Sums of entries and of squares of every column.
struct Sizes {
  Vector l1, l2;
};
Sizes sizes_of(const Axis& axis, const Panel& X) {
  return {axis.dots(X, Panel::Ones(X.rows(), X.cols())), axis.dots(X, X)};
}

/// The scale between the two factors of an atom changes what they pay and nothing else: t with the least
/// w1 t + w2/2 t^2 for t w, and the same for h / t. Where one of them pays nothing there is none.
double cheapest_scale(double w1, double w2, double h1, double h2) {
  if (!(w1 + w2 > 0 && h1 + h2 > 0)) return 1;
  double u = 0;  // log t, in which the cost is convex
  for (int step = 0; step < 50; ++step) {
    const double t = std::exp(u), slope = w1 * t + w2 * t * t - h1 / t - h2 / (t * t),
                 curvature = w1 * t + 2 * w2 * t * t + h1 / t + 2 * h2 / (t * t);
    const double move = slope / curvature;  // at most 1 in size
    u -= move;
    if (std::abs(move) < 1e-12) break;
  }
  return std::exp(u);
}

void require_start(const Form& Y, const Factors& factors) {
  const Panel &W = factors[0], &H = factors[1];
  if (W.rows() != Y.axis(0).own() || H.rows() != Y.axis(1).own() || W.cols() != H.cols())
    throw InvalidArgument(fmt::format("factors of {} x {} and {} x {} do not fit {} x {} data", W.rows(),
                                      W.cols(), H.rows(), H.cols(), Y.axis(0).size(), Y.axis(1).size()));
  for (const Panel* X : {&W, &H})
    if (!X->allFinite() || (X->size() > 0 && X->minCoeff() < 0))
      throw InvalidArgument("factors: every entry must be finite and at least 0");
}

void require_penalty(const ElasticNet& penalty) {
  for (const double value : {penalty.l1, penalty.l2})
    if (!(value >= 0 && std::isfinite(value)))
      throw InvalidArgument(fmt::format("penalty {}: must be finite and at least 0", value));
}

/// Every atom's factors in the scale in which they pay the least.
void rescale(const Form& Y, const ElasticNet& left, const ElasticNet& right, Factors& factors) {
  const Sizes w = sizes_of(Y.axis(0), factors[0]), h = sizes_of(Y.axis(1), factors[1]);
  for (Index i = 0; i < factors.count(); ++i) {
    const double scale =
        cheapest_scale(left.l1 * w.l1[i], left.l2 * w.l2[i], right.l1 * h.l1[i], right.l2 * h.l2[i]);
    factors[0].col(i) *= scale;
    factors[1].col(i) /= scale;
  }
}

}  // namespace

CorrectionOutcome penalized_sweeps(const Target& Y, const ElasticNet& left, const ElasticNet& right,
                                   const CorrectionOptions& options, PenalizedFactors& factors) {
  require_start(Y, factors.factors);
  require_penalty(left);
  require_penalty(right);
  Panel &W = factors.factors[0], &H = factors.factors[1];
  if (options.sweeps > 0) rescale(Y, left, right, factors.factors);
  Panel P;
  Y.contract(1, factors.factors, P);
  factors.objective = value_from(Y, 1, P, grams_but(Y, 1, factors.factors, factors.factors), H) +
                      left.cost(Y.axis(0), W) + right.cost(Y.axis(1), H);
  if (options.sweeps < 1 || W.cols() == 0) return {};
  Vector products;
  return run_ahead_sweeps(Y, {{true, left}, {true, right}}, options, factors, products);
}

CorrectionOutcome penalized_sweeps(Objective& f, const ElasticNet& left, const ElasticNet& right,
                                   const CorrectionOptions& options, bool right_stays,
                                   PenalizedFactors& factors) {
  require_start(f, factors.factors);
  require_penalty(left);
  require_penalty(right);
  if (options.sweeps > 0 && !right_stays) rescale(f, left, right, factors.factors);
  f.move_to({factors.factors, Vector::Ones(factors.factors.count())});
  factors.objective =
      f.value() + left.cost(f.axis(0), factors.factors[0]) + right.cost(f.axis(1), factors.factors[1]);
  if (options.sweeps < 1 || factors.factors.count() == 0) return {};
  const auto sweeps = f.free_sweeps({.nonnegative = true, .prices = {{left, right}}});
  if (!sweeps) throw InvalidArgument("this objective has no sweeps over factors that are free");
  if (!right_stays) return run_ahead(*sweeps, {{true}, {true}}, kStepsSettled, options, factors);
  SweepCounter counter(options);
  for (bool more = true; more;) {
    const double before = factors.objective;
    factors.objective = std::min(before, sweeps->sweep(0, factors.factors, true, true, factors.factors[0]));
    more = counter.another(before, factors.objective);
  }
  return counter.outcome();
}

}  // namespace pursuit
