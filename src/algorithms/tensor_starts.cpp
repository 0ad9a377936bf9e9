#include "algorithms/tensor_starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "atoms/along_axis.hpp"
#include "base/require.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/decompositions.hpp"

namespace pursuit {
namespace {

/// Every column brought into its set.
void bring_into(const Axis& axis, const AtomSets& sets, Index panel, Panel& members) {
  for (Index k = 0; k < members.cols(); ++k) {
    const Vector g = members.col(k);
    maximize(axis, sets.of(panel, k), g, members.col(k));
  }
}

constexpr Index kMore = 10;  // columns of a sketch beyond those that are wanted

Factors gaussian_factors(const Target& Y, Index count, Random& random) {
  std::vector<Panel> panels;
  std::vector<Index> own(static_cast<std::size_t>(Y.modes()));
  std::iota(own.begin(), own.end(), Index(0));
  for (Index mode = 0; mode < Y.modes(); ++mode) panels.push_back(Y.axis(mode).gaussian(count, random));
  return {std::move(panels), std::move(own)};
}

/// Of an unfolding, from a sketch of it: orthonormal, as many as there are, at most so many.
Panel leading_directions(const Target& Y, Index mode, const Factors& omega, Index most) {
  const Axis& axis = Y.axis(mode);
  Panel sketch;
  Y.contract(mode, omega, sketch);
  const SymmetricEigen eigen = symmetric_eigen(axis.inner(sketch, sketch));
  const Index count = std::min({most, sketch.cols(), axis.size()});
  return axis.orthonormal(sketch * eigen.vectors.rightCols(count).rowwise().reverse());
}

}  // namespace

std::vector<Index> panels_of_modes(const AtomSets& sets) {
  std::vector<Index> result;
  for (Index mode = 0; mode < sets.modes(); ++mode) result.push_back(sets.panel_of(mode));
  return result;
}

void require_modes(const AtomSets& sets, const std::vector<Index>& shape) {
  require(
      sets.modes() == Index(shape.size()),
      fmt::format("{} sets for an array of {} modes: one for each is needed", sets.modes(), shape.size()));
  for (Index mode = 0; mode < sets.modes(); ++mode) {
    const Index first = sets.mode_of(sets.panel_of(mode));
    require(shape[std::size_t(mode)] == shape[std::size_t(first)],
            fmt::format("modes {} and {} share their factors, but have sizes {} and {}", first, mode,
                        shape[std::size_t(first)], shape[std::size_t(mode)]));
  }
}

Expansion random_members(const Target& Y, const AtomSets& sets, Index rank, Random& random) {
  std::vector<Panel> panels;
  for (Index panel = 0; panel < sets.panels(); ++panel) {
    const Axis& axis = Y.axis(sets.mode_of(panel));
    Panel members = axis.gaussian(rank, random).cwiseAbs();
    bring_into(axis, sets, panel, members);
    panels.push_back(std::move(members));
  }
  return {Factors(std::move(panels), panels_of_modes(sets)), Vector::Ones(rank)};
}

Expansion leading_members(const Target& Y, const AtomSets& sets, Index rank, Random& random) {
  const Factors omega = gaussian_factors(Y, rank + kMore, random);
  std::vector<Panel> panels;
  for (Index panel = 0; panel < sets.panels(); ++panel) {
    const Index mode = sets.mode_of(panel);
    const Axis& axis = Y.axis(mode);
    const Panel directions = leading_directions(Y, mode, omega, rank);
    Panel members = axis.gaussian(rank, random);  // where there are no more directions
    members.leftCols(directions.cols()) = directions;
    if (!sets.panel(panel).traits().symmetric) members = members.cwiseAbs();
    bring_into(axis, sets, panel, members);
    panels.push_back(std::move(members));
  }
  return {Factors(std::move(panels), panels_of_modes(sets)), Vector::Ones(rank)};
}

void StartSearch::run_sweeps(int count, double tolerance, Runner& runner) {
  if (run_.stopped()) return;
  f_.move_to(runner.at);
  CorrectionOptions options = rules_.correction;
  options.sweeps = count;
  options.tolerance = tolerance;
  options.keep_going = [&](int sweep, double value) {
    return run_.go_on({.phase = Moment::Phase::polish,
                       .rank = f_.iterate().rank(),
                       .target_rank = rules_.rank,
                       .sweep = sweep,
                       .max_sweeps = count,
                       .relative_error = std::sqrt(value / f_.null_value())});
  };
  sweeps_ += Corrections(f_, rules_.sets, {}).run(options).sweeps;
  runner = {f_.iterate(), f_.value()};
}

std::vector<StartSearch::Runner> StartSearch::race(std::vector<Expansion> starts, int first_sweeps,
                                                   std::size_t left) {
  std::vector<Runner> runners;
  runners.reserve(starts.size());
  for (Expansion& start : starts) runners.push_back({std::move(start), std::numeric_limits<double>::max()});
  for (int count = first_sweeps; !run_.stopped(); count *= 2) {
    for (Runner& runner : runners) run_sweeps(count, 0, runner);
    std::stable_sort(runners.begin(), runners.end(),
                     [](const Runner& a, const Runner& b) { return a.value < b.value; });
    if (runners.size() <= left) break;
    runners.resize(std::max(left, (runners.size() + 1) / 2));
  }
  runners.resize(std::min(left, runners.size()));
  return runners;
}

std::vector<Expansion> StartSearch::exchanged(const Expansion& x, std::size_t dropped) {
  constexpr int kSweepsBetween = 10;
  constexpr double kRough = 1e-3;  // of the oracle, whose atoms are corrected anyway
  const Index rank = x.rank();
  f_.move_to(x);
  const Matrix gram = f_.weight_quadratic().gram;
  Vector loss = x.weights.cwiseAbs2().cwiseProduct(gram.diagonal());
  if (const Cholesky factored(gram); factored.definite())  // with the other weights fitted again
    loss = x.weights.cwiseAbs2().cwiseQuotient(factored.solve(Matrix::Identity(rank, rank)).diagonal());
  std::vector<Index> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return loss[i] < loss[j]; });
  std::vector<Expansion> result;
  for (std::size_t place = 0; place < order.size() && !run_.stopped(); ++place) {
    Vector weights = x.weights;
    for (std::size_t i = 0; i < dropped; ++i) weights[order[(place + i) % order.size()]] = 0;
    std::vector<Index> kept;
    for (Index k = 0; k < rank; ++k)
      if (weights[k] != 0) kept.push_back(k);
    f_.move_to(x);
    f_.reweigh(weights);
    f_.keep(kept);
    while (f_.iterate().rank() < rank) {
      Runner others{f_.iterate(), 0};
      run_sweeps(kSweepsBetween, 0, others);
      OracleOptions oracle;
      oracle.sign = rules_.correction.sign;
      oracle.seed = rules_.seed + ++questions_;
      oracle.tolerance = kRough;
      const FoundAtom found = find_atom(f_, rules_.sets, f_.iterate().rank(), oracle);
      if (found.value == 0 || (found.value < 0 && oracle.sign == Sign::nonnegative)) break;
      f_.append(found.factors, found.value);
      Vector grown = f_.iterate().weights;
      grown[grown.size() - 1] = found.value;
      f_.reweigh(grown);
    }
    if (f_.iterate().rank() == rank) result.push_back(f_.iterate());
  }
  return result;
}

void StartSearch::exchange(Runner& runner) {
  constexpr double kGain = 1e-3;  // of f, which sweeps alone would hardly bring
  constexpr std::size_t kMostDropped = 2;
  constexpr int kFirstSweeps = 30;
  for (std::size_t dropped = 1; dropped <= kMostDropped && !run_.stopped();) {
    std::vector<Expansion> candidates = exchanged(runner.at, dropped);
    if (candidates.empty()) return;
    Runner best = race(std::move(candidates), kFirstSweeps, 1).front();
    if (best.value < (1 - kGain) * runner.value) {
      runner = std::move(best);
      dropped = 1;
    } else {
      ++dropped;
    }
  }
}

Expansion StartSearch::best(std::vector<Expansion> starts) {
  constexpr int kFirstSweeps = 50;
  constexpr std::size_t kChains = 2;
  const bool alone = starts.size() == 1;
  std::vector<Runner> chains =
      alone ? std::vector<Runner>{{std::move(starts.front()), std::numeric_limits<double>::max()}}
            : race(std::move(starts), kFirstSweeps, kChains);
  for (Runner& chain : chains) {
    if (!alone && rules_.correction.known.empty()) exchange(chain);
    settle(chain);
  }
  return std::min_element(chains.begin(), chains.end(),
                          [](const Runner& a, const Runner& b) { return a.value < b.value; })
      ->at;
}

void StartSearch::settle(Runner& runner) {
  constexpr int kSweeps = 1000;
  constexpr double kTolerance = 1e-7;
  Runner settled = runner;
  run_sweeps(kSweeps, kTolerance, settled);
  if (settled.value < runner.value) runner = std::move(settled);
}

}  // namespace pursuit
