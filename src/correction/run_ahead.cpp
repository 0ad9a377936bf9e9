#include "correction/run_ahead.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "correction/progress.hpp"
#include "correction/sweeps_over_ranks.hpp"
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

/// P and G of the mode that was swept last are kept.
class PenalizedSquares final : public FreeSweeps {
 public:
  PenalizedSquares(const Target& Y, const std::vector<FreeMode>& modes, int threads)
      : Y_(Y), modes_(modes), threads_(threads) {}

  double sweep(Index mode, const Factors& at, bool nonnegative, bool value, Panel& X) override {
    const ElasticNet& penalty = modes_[std::size_t(mode)].penalty;
    mode_ = mode;
    Y_.contract(mode, at, P_);
    G_ = grams_but(Y_, mode, at, at);
    charge(penalty, threads_, P_, G_);
    coordinate_sweep(P_, G_, {nonnegative, 0, passes_along(Y_, mode, X.cols()), threads_}, X);
    drop_unused(penalty, G_, X);
    if (!value) return 0;
    double f = value_from(Y_, mode, P_, G_, X);  // what this mode pays is in P and G
    for (Index other = 0; other < Y_.modes(); ++other)
      if (other != mode) f += modes_[std::size_t(other)].penalty.cost(Y_.axis(other), at[other]);
    return f;
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

CorrectionOutcome run_ahead(FreeSweeps& sweeps, const std::vector<FreeMode>& modes, double below,
                            const CorrectionOptions& options, PenalizedFactors& good,
                            const std::function<void(const Panel&)>& improved,
                            const std::function<bool(bool)>& agree) {
  constexpr double kShrink = 1.5, kGrow = 1.05, kGrowLimit = 1.01;
  constexpr double kRough = 1e-6;  // a tolerance from here on asks for an early end, not for the bottom
  constexpr int kPlain = 2;        // after so many failures a sweep does not run ahead
  double beta = 0.5, limit = 1;
  const Index last = Index(modes.size()) - 1;
  Factors ahead = good.factors, before = ahead, next = ahead;
  int failures = 0;  // since the last sweep that f fell in
  bool settled = !std::isfinite(below);
  const auto go_ahead = [&](Index mode) {
    const double step = settled && failures < kPlain ? beta : 0.0;
    const double lower = modes[std::size_t(mode)].nonnegative ? 0.0 : std::numeric_limits<double>::lowest();
    for_entries(next[mode].size(), options.threads, [&](Index first, Index count) {
      const auto now = entries_of(std::as_const(next[mode]), first, count);
      const auto then = entries_of(std::as_const(before[mode]), first, count);
      entries_of(ahead[mode], first, count) = (now + step * (now - then)).max(lower);
    });
  };
  const auto copy = [&](const Panel& from, Panel& to) { copy_entries(from, options.threads, to); };

  SweepCounter counter(options, /*momentum=*/options.tolerance < kRough);
  bool at_rest = false;
  const Kept kept(options.checkpoints, "run_ahead", [&](StateArchive& archive) {
    counter.visit_state(archive);
    archive("beta", beta);
    archive("limit", limit);
    archive("failures", failures);
    archive("settled", settled);
    archive("at_rest", at_rest);
    archive("objective", good.objective);
    const Index rank = ahead.count();
    visit(archive, "good", good.factors, rank);
    visit(archive, "ahead", ahead, rank);
    visit(archive, "before", before, rank);
  });
  for (bool more = !kept.resumed() || (counter.another() && !at_rest); more;) {
    double reached = 0;
    for (Index mode = 0; mode <= last; ++mode) {
      copy(ahead[mode], next[mode]);
      reached = sweeps.sweep(mode, ahead, modes[std::size_t(mode)].nonnegative, mode == last, next[mode]);
      if (mode < last) go_ahead(mode);
    }
    const double reached_before = good.objective;
    const bool better = reached < reached_before;
    at_rest = !better && failures >= kPlain;
    if (better) {
      good.objective = reached;
      if (improved) improved(next[last]);
      for (Index mode = 0; mode < last; ++mode) copy(ahead[mode], good.factors[mode]);
      copy(next[last], good.factors[last]);
      settled |= reached_before - reached < below * reached;
      go_ahead(last);
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
    if (agree) more = agree(more);
  }
  return counter.outcome();
}

CorrectionOutcome run_ahead_sweeps(const Target& Y, const std::vector<FreeMode>& modes,
                                   const CorrectionOptions& options, PenalizedFactors& good,
                                   Vector& products) {
  if (const auto shared = sweeps_over_ranks(Y, modes, options, good, products)) return *shared;
  PenalizedSquares squares(Y, modes, options.threads);
  products = Vector::Zero(good.factors.count());
  const Kept kept(options.checkpoints, "products",
                  [&](StateArchive& archive) { archive("of_target", products, good.factors.count()); });
  return run_ahead(squares, modes, std::numeric_limits<double>::infinity(), options, good,
                   [&](const Panel& X) { products = squares.products(X); });
}

}  // namespace pursuit
