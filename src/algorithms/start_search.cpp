#include "algorithms/start_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algorithms/pursue_atoms.hpp"
#include "algorithms/tensor_starts.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "linalg/cholesky.hpp"

namespace pursuit {
namespace {

constexpr int kFirstSweepsOfLosses = 10;

}  // namespace

int count_racing_starts(const Objective& f, const AtomSets& sets, const FactorOptions& o) {
  constexpr double kCheap = 1e10;       // multiply-adds
  constexpr double kEntryOfALoss = 40;  // of them, beside those with atoms
  constexpr int kSeveral = 7;
  if (o.starts == 0) return 0;
  const bool greedy = o.start == Start::greedy && o.initial.rank() == 0;
  const bool free_weights = o.weights.kind == WeightRule::free || o.weights.kind == WeightRule::nonneg;
  bool races = greedy && free_weights && o.polish > 0 && !f.has_own_terms() && sets.all_single();
  for (Index mode = 0; mode < sets.modes(); ++mode)
    races = races && !sets.mode(mode).varies() && sets.mode(mode).traits().coordinatewise();
  require(races || o.starts < 0,
          fmt::format(
              "starts {}: they race where atoms start greedy and are polished, sets leave entries free of "
              "each other, weights are free or nonneg, and nothing is fitted beside the atoms",
              o.starts));
  if (!races || o.starts > 0) return races ? o.starts : 0;
  double entries = 1;
  for (Index mode = 0; mode < f.modes(); ++mode) entries *= double(f.axis(mode).size());
  const double rank = double(o.rank), sweep = double(f.modes()) * entries * (kEntryOfALoss + rank * rank),
               sweeps = kFirstSweepsOfLosses * kSeveral * std::log2(double(kSeveral + 1));
  return o.rank > 1 && sweeps * sweep < kCheap ? kSeveral : 0;
}

void pursue_and_race(Objective& f, const FactorOptions& o, const AtomSets& sets, Run& run,
                     FactorResult& result) {
  bool grown = false;  // what is grown one by one is there, and the best start beside it has been found
  double before = 0;   // f of what was grown
  int sweeps = 0;      // of the race
  Trace trace;
  const Kept kept(run.checkpoints(), "race", [&](StateArchive& archive) {
    archive("grown", grown);
    archive("before", before);
    archive("sweeps", sweeps);
    visit(archive, "trace", trace);
  });
  if (!grown) {
    if (run.checkpoints()) run.checkpoints()->hold_states();  // a race is left in its midst, and run again
    FactorOptions growth = o;
    growth.polish = 0;
    pursue_atoms(f, growth, sets, {}, run, result);
    if (run.stopped()) return;
    before = f.value();
    trace = result.trace;
  }
  if (!grown && f.iterate().rank() == o.rank) {
    SearchRules rules{sets, {}, o.rank, o.seed};
    rules.correction.sign = o.weights.allows_negative() ? Sign::free : Sign::nonnegative;
    rules.correction.threads = resolve_threads(o.threads);
    constexpr double kSmall = 0.01;  // of what was found, whatever the unit: the first sweep finds the size
    std::vector<Expansion> starts{f.iterate()};
    Random random(o.seed);
    for (int left = count_racing_starts(f, sets, o); left > 0; --left) {
      starts.push_back(random_members(f, sets, o.rank, random));
      starts.back().weights.setConstant(kSmall * f.iterate().weights.cwiseAbs().mean());
    }
    StartSearch search(f, rules, run);
    f.move_to(search.leader(std::move(starts)));
    sweeps = search.sweeps();
  }
  grown = !run.stopped();
  result.trace = trace;
  pursue_further(f, o, sets, {}, {}, before, sweeps, run, result);
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
  const double reached = f_.value();
  runner = {f_.iterate(), std::isfinite(reached) ? reached : std::numeric_limits<double>::max()};
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

Expansion StartSearch::leader(std::vector<Expansion> starts) {
  return race(std::move(starts), kFirstSweepsOfLosses, 1).front().at;
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
