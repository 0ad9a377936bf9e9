#include "correction/run_ahead.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "correction/progress.hpp"
#include "linalg/elementwise.hpp"
#include "objective/coordinate_sweep.hpp"

namespace pursuit {
namespace {

/// On x >= 0 the l1 norm is linear: P and G hold the whole penalty of their mode.
void charge(const ElasticNet& penalty, int threads, Panel& P, Matrix& G) {
  if (penalty.l1 > 0)
    for_entries(P.size(), threads,
                [&](Index first, Index count) { entries_of(P, first, count) -= penalty.l1; });
  if (penalty.l2 > 0) G.diagonal().array() += penalty.l2;
}

/// A column whose partner is zero fits nothing: no sweep moves it, and all that it pays is saved.
void drop_unused(const ElasticNet& penalty, const Matrix& G, Panel& X) {
  if (penalty.l1 > 0)
    for (Index i = 0; i < X.cols(); ++i)
      if (!(G(i, i) > 0)) X.col(i).setZero();
}

}  // namespace

int passes_along(const Target& Y, Index mode, Index rank) {
  const double work = Y.contraction_work() / double(Y.axis(mode).size());
  return int(std::clamp(work / (3.0 * double(rank)), 4.0, 6.0));
}

double value_from(const Target& Y, Index mode, const Panel& P, const Matrix& G, const Panel& X) {
  const Axis& axis = Y.axis(mode);
  return std::max(
      0.0, 0.5 * Y.squared_norm() - axis.dots(P, X).sum() + 0.5 * G.cwiseProduct(axis.inner(X, X)).sum());
}

namespace {

/// P and G of a mode, in which a penalty is charged.
class TargetSweeps final : public FreeSweeps {
 public:
  TargetSweeps(const Target& Y, const std::vector<FreeMode>& modes, int threads)
      : Y_(Y), modes_(modes), threads_(threads) {}

  void sweep(Index mode, const Factors& held, bool nonnegative, Panel& X) override {
    const ElasticNet& penalty = modes_[std::size_t(mode)].penalty;
    Y_.contract(mode, held, P_);
    G_ = grams_but(Y_, mode, held, held);
    charge(penalty, threads_, P_, G_);
    coordinate_sweep(P_, G_, {nonnegative, 0, passes_along(Y_, mode, X.cols()), threads_}, X);
    drop_unused(penalty, G_, X);
    mode_ = mode;
  }
  double value(const Panel& X) const override { return value_from(Y_, mode_, P_, G_, X); }

  double paid(Index mode, const Panel& X) const {
    return modes_[std::size_t(mode)].penalty.cost(Y_.axis(mode), X);
  }
  Vector products(const Panel& X) const { return Y_.axis(mode_).dots(P_, X); }

 private:
  const Target& Y_;
  const std::vector<FreeMode>& modes_;
  int threads_;
  Index mode_ = 0;
  Panel P_;
  Matrix G_;
};

/// `paid(mode, X)` is what X pays; `improved(X)` is told of the last mode's factors where f fell.
template <class Paid, class Improved>
CorrectionOutcome sweep_ahead(FreeSweeps& sweeps, const std::vector<FreeMode>& modes,
                              const CorrectionOptions& options, const Paid& paid_by, const Improved& improved,
                              PenalizedFactors& good) {
  constexpr double kShrink = 1.5, kGrow = 1.05, kGrowLimit = 1.01;
  constexpr double kRough = 1e-6;  // a tolerance from here on asks for an early end, not for the bottom
  constexpr int kPlain = 2;        // after so many failures a sweep does not run ahead
  double beta = 0.5, limit = 1;
  const Index last = Index(modes.size()) - 1;
  Factors ahead = good.factors, before = ahead, next = ahead;
  int failures = 0;  // since the last sweep that f fell in
  const auto run_ahead = [&](Index mode) {
    const double step = failures < kPlain ? beta : 0.0;
    const double lower = modes[std::size_t(mode)].nonnegative ? 0.0 : std::numeric_limits<double>::lowest();
    for_entries(next[mode].size(), options.threads, [&](Index first, Index count) {
      const auto now = entries_of(std::as_const(next[mode]), first, count);
      const auto then = entries_of(std::as_const(before[mode]), first, count);
      entries_of(ahead[mode], first, count) = (now + step * (now - then)).max(lower);
    });
  };
  const auto copy = [&](const Panel& from, Panel& to) { copy_entries(from, options.threads, to); };

  SweepCounter counter(options, /*momentum=*/options.tolerance < kRough);
  for (bool more = true; more;) {
    double paid = 0;  // by all modes but the last, whose sweep counts it
    for (Index mode = 0; mode <= last; ++mode) {
      copy(ahead[mode], next[mode]);
      sweeps.sweep(mode, ahead, modes[std::size_t(mode)].nonnegative, next[mode]);
      if (mode == last) break;
      run_ahead(mode);
      paid += paid_by(mode, ahead[mode]);
    }
    const double reached = sweeps.value(next[last]) + paid, reached_before = good.objective;
    const bool better = reached < reached_before, at_rest = !better && failures >= kPlain;
    if (better) {
      good.objective = reached;
      improved(next[last]);
      for (Index mode = 0; mode < last; ++mode) copy(ahead[mode], good.factors[mode]);
      copy(next[last], good.factors[last]);
      run_ahead(last);
      std::swap(before, next);
      limit = std::min(1.0, kGrowLimit * limit);
      beta = std::min(limit, kGrow * beta);
    } else {  // too far: back to the last good factors, with a shorter step and no momentum
      limit = beta;
      beta /= kShrink;
      for (Index mode = 0; mode <= last; ++mode) {
        copy(good.factors[mode], ahead[mode]);
        copy(good.factors[mode], before[mode]);
      }
    }
    failures = better ? 0 : failures + 1;
    more = counter.another(reached_before, good.objective, /*tentative=*/!better && !at_rest) && !at_rest;
  }
  return counter.outcome();
}

}  // namespace

CorrectionOutcome run_ahead_sweeps(const Target& Y, const std::vector<FreeMode>& modes,
                                   const CorrectionOptions& options, PenalizedFactors& good,
                                   Vector& products) {
  TargetSweeps sweeps(Y, modes, options.threads);
  return sweep_ahead(
      sweeps, modes, options, [&](Index mode, const Panel& X) { return sweeps.paid(mode, X); },
      [&](const Panel& X) { products = sweeps.products(X); }, good);
}

CorrectionOutcome run_ahead_sweeps(FreeSweeps& sweeps, const std::vector<FreeMode>& modes,
                                   const CorrectionOptions& options, PenalizedFactors& good) {
  return sweep_ahead(
      sweeps, modes, options, [](Index, const Panel&) { return 0.0; }, [](const Panel&) {}, good);
}

}  // namespace pursuit
