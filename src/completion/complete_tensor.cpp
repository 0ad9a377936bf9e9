#include "pursuit/completion/complete_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algorithms/expansion_space.hpp"
#include "algorithms/observed_tensor_atoms.hpp"
#include "algorithms/pursue_atoms.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "objective/entry_loss.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

constexpr Index kMostHeldBack = 30000;   // more would not make a choice any surer
constexpr Index kFewestHeldBack = 50;    // fewer say nothing
constexpr int kRanksWithoutBetter = 5;   // atoms without a better validation error before a path ends
constexpr int kOwnRounds = 20;           // to fit offsets and the like in, beside atoms that are there
constexpr double kRoughTolerance = 100;  // times that of a polish: where atoms are yet to come

/// Sums of atoms and offsets at these places.
Vector predictors_at(const TensorModel& model, const std::vector<std::vector<int>>& places) {
  const Index count = Index(places[0].size()), rank = model.atoms.rank();
  Vector x = Vector::Zero(count);
  Vector row(rank);
  const auto offset = [&](std::size_t mode) -> const Vector& {
    return mode == 0   ? model.own_terms.row_offsets
           : mode == 1 ? model.own_terms.col_offsets
                       : model.own_terms.further_offsets[mode - 2];
  };
  const bool offsets = model.own_terms.row_offsets.size() > 0;
  for (Index e = 0; e < count; ++e) {
    row = model.atoms.weights;
    for (std::size_t m = 0; m < places.size(); ++m) {
      const Index place = places[m][std::size_t(e)];
      row.array() *= model.atoms.factors[Index(m)].row(place).transpose().array();
      if (offsets) x[e] += offset(m)[place];
    }
    x[e] += row.sum();
  }
  return x;
}

/// Half the deviance of every entry.
double half_deviance(const TensorModel& model, double y, double x) {
  if (model.loss.kind == Loss::poisson) {
    const double mean = std::max(x, 1e-300);
    return (y > 0 ? y * std::log(y / mean) : 0.0) - y + x;
  }
  LossShape shape{.loss = model.loss, .width = 1e-12, .size = model.own_terms.size, .lower = {}, .upper = {}};
  if (model.loss.kind == Loss::ordinal) {
    const OwnTerms& own = model.own_terms;
    const auto level = std::lower_bound(own.grades.begin(), own.grades.end(), y) - own.grades.begin();
    if (level == own.grades.size() || own.grades[level] != y) return 700;  // a grade that was never seen
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    shape.first_grade = y;
    shape.lower = {level > 0 ? own.thresholds[level - 1] : -kInfinity};
    shape.upper = {level < own.thresholds.size() ? own.thresholds[level] : kInfinity};
  }
  const auto loss = entry_loss(shape);
  const EntryRun run{1, &y, &x, nullptr};
  return loss->varying(run) + loss->constant(run);
}

double error_on(const TensorModel& model, const ObservedTensor& held) {
  const TensorAccuracy figures = accuracy(model, held);
  return model.loss.kind == Loss::squares ? figures.rmse : figures.deviance;
}

void check_options(const AtomSets& sets, const TensorCompletionOptions& o) {
  require(o.rank >= 0, fmt::format("rank {}: at least one atom is needed", o.rank));
  require(o.max_rank >= 1, fmt::format("rank {}: at least one atom is needed", o.max_rank));
  require(o.validation >= 0 && o.validation < 1,
          fmt::format("validation {}: must be at least 0 and below 1", o.validation));
  require(o.rank > 0 || o.validation > 0, "validation 0: without entries held back the rank has to be given");
  require(o.corrections >= 0, fmt::format("corrections {}: must be 0 or more", o.corrections));
  require(o.polish >= 0, fmt::format("polish {}: must be 0 or more", o.polish));
  require(o.loss.kind == Loss::squares || o.regularization.kind == Regularization::none,
          fmt::format("regularization {}: of squares alone; loss {} goes without (none)",
                      o.regularization.spec(), o.loss.spec()));
  require(o.regularization.kind == Regularization::none || o.weights.kind != WeightRule::convex,
          fmt::format("weights {}: go without regularization only; regularised weights are free or nonneg",
                      o.weights.spec()));
  require(sets.all_single() || o.regularization.kind != Regularization::self_tuned,
          "regularization auto: not with modes that share their factors; these take none, or a number");
}

/// One run of complete_tensor().
class TensorRun {
 public:
  TensorRun(const AtomSets& sets, const TensorCompletionOptions& options)
      : sets_(sets), o_(options), run_({.time_limit = options.time_limit}, options.observer) {
    result_.regularization = options.regularization;
  }

  /// One run of Algorithm 2, from the best atoms there are; keeps those of the best rank so far.
  void path(const ObservedTensor& data, const ObservedTensor& held, Index rank) {
    const auto f = make_objective(data, {.loss = o_.loss, .offsets = o_.offsets}, resolve_threads(o_.threads),
                                  sharing_of(sets_, data));
    FactorOptions as_factor;
    as_factor.rank = rank;
    as_factor.weights = o_.weights;
    as_factor.loss = o_.loss;
    require_sets_for(*f, sets_, as_factor);
    if (best_rank() > 0) {
      f->move_to(result_.model.atoms);
      for (int round = 0; round < kOwnRounds; ++round) f->fit_own_terms();
    }
    const bool paid = is_paid();
    ExpansionSpace space(*f, sets_, o_.weights, {.restarts = o_.restarts, .seed = o_.seed}, {},
                         result_.regularization);
    const bool choosing = held.size() > 0;
    double weight = 0;  // of all entries
    for (const double each : data.weights) weight += each;
    if (data.weights.empty()) weight = double(data.size());
    Index since = 0;
    int sweeps = 0;
    double judged = -1;
    best_error_ = std::numeric_limits<double>::infinity();
    const auto judge = [&] {
      judged = f->value();
      TensorModel model{space.expansion(), o_.loss, f->own_terms()};
      const double error = choosing ? error_on(model, held) : Moment::kUnknown;
      result_.path.push_back(
          {model.atoms.rank(), sweeps, std::sqrt(2 * judged / weight), error, run_.seconds()});
      ++since;
      if (!choosing || error < best_error_) {
        best_error_ = error;
        result_.model = std::move(model);
        result_.objective = judged;
        result_.null_objective = f->null_value();
        since = 0;
      }
      return error;
    };
    PursuitOptions steps{.rank = rank, .corrections = o_.corrections};
    if (!paid && o_.polish > 0) {
      steps.corrections = o_.polish;
      steps.correction_tolerance = kRoughTolerance * o_.polish_tolerance;
    }
    if (!choosing && !paid) {
      steps.polish = o_.polish;
      steps.polish_tolerance = o_.polish_tolerance;
    }
    const PursuitOutcome outcome = pursue(space, steps, Run({}, [&](const Moment& moment) {
                                            const bool new_atom = moment.phase == Moment::Phase::atom;
                                            if (!new_atom) sweeps = moment.sweep;
                                            const double error = new_atom ? judge() : Moment::kUnknown;
                                            return run_.go_on({.phase = Moment::Phase::growing,
                                                               .rank = moment.rank,
                                                               .target_rank = moment.target_rank,
                                                               .sweep = int(moment.rank),
                                                               .max_sweeps = int(moment.target_rank),
                                                               .relative_error = moment.relative_error,
                                                               .validation = error}) &&
                                                   since < kRanksWithoutBetter;
                                          }));
    space.drop_weightless();
    // A run that was stopped inside a correction, or was polished, ends without a last word.
    if (f->value() != judged || result_.model.atoms.factors.modes() != f->modes()) judge();
    result_.trace = outcome.trace;
    run_.finish(outcome.stop == Stop::interrupted && since > 0 ? Stop::no_gain : outcome.stop);
  }

  /// The same where factors pay nothing; the better of both stays.
  void try_none(const ObservedTensor& data, const ObservedTensor& held, Index rank) {
    const double error = best_error_;
    const Stop stop = run_.stop();
    TensorCompletion before = result_;
    result_.model.atoms = {};
    result_.regularization = {};
    path(data, held, rank);
    if (best_error_ < error) return;
    before.path = std::move(result_.path);
    result_ = std::move(before);
    run_.finish(stop);
  }

  /// With all entries, as many atoms as were best. What factors pay is learned with them, and less and less
  /// the longer they move: where they pay they start anew, and a run that is stopped keeps those that were
  /// judged.
  void fit_all(const ObservedTensor& data) {
    const TensorCompletion judged = result_;
    const Stop stop = run_.stop();
    const bool paid = is_paid();
    if (paid) result_.model.atoms = {};
    path(data, {}, judged.model.atoms.rank());
    if (paid && run_.stopped()) {
      result_.model = judged.model;
      result_.objective = judged.objective;
      result_.null_objective = judged.null_objective;
    }
    run_.finish(stop);
  }

  bool interrupted() const { return run_.stopped(); }
  Index best_rank() const { return result_.model.atoms.rank(); }

  TensorCompletion result() && {
    settle_signs_of_modes(sets_, {}, result_.model.atoms);
    result_.stop = run_.stop();
    result_.seconds = run_.seconds();
    return std::move(result_);
  }

 private:
  bool is_paid() const { return result_.regularization.kind != Regularization::none; }

  const AtomSets& sets_;
  const TensorCompletionOptions& o_;
  Run run_;
  TensorCompletion result_;
  double best_error_ = 0;
};

void append_entries(ObservedTensor& data, const ObservedTensor& more) {
  for (std::size_t m = 0; m < data.entries.index.size(); ++m)
    data.entries.index[m].insert(data.entries.index[m].end(), more.entries.index[m].begin(),
                                 more.entries.index[m].end());
  data.entries.value.insert(data.entries.value.end(), more.entries.value.begin(), more.entries.value.end());
  data.weights.insert(data.weights.end(), more.weights.begin(), more.weights.end());
}

}  // namespace

ObservedTensor hold_back(ObservedTensor& data, double share, Index most, std::uint64_t seed,
                         const std::vector<Index>& panel_of_mode) {
  const Index count = std::min(Index(share * double(data.size())), most);
  ObservedTensor held{
      {data.entries.shape, std::vector<std::vector<int>>(data.entries.index.size()), {}}, {}, false};
  if (count < 1) return held;
  const std::uint64_t start = Random(seed).stream(0).bits();
  std::vector<std::pair<std::uint64_t, Index>> keys;
  keys.reserve(std::size_t(data.size()));
  std::vector<int> place(data.entries.index.size());
  for (Index e = 0; e < data.size(); ++e) {
    for (std::size_t m = 0; m < place.size(); ++m) place[m] = data.entries.index[m][std::size_t(e)];
    for (std::size_t m = 1; m < panel_of_mode.size(); ++m)  // one order of indices stands for all
      for (std::size_t other = 0; other < m; ++other)
        if (panel_of_mode[other] == panel_of_mode[m] && place[m] < place[other])
          std::swap(place[m], place[other]);
    std::uint64_t key = start;
    for (std::size_t m = 0; m < place.size(); ++m) key = random_block(key, std::uint64_t(place[m]), m).first;
    keys.emplace_back(key, e);
  }
  std::nth_element(keys.begin(), keys.begin() + count, keys.end());
  std::vector<bool> taken(std::size_t(data.size()), false);
  for (Index k = 0; k < count; ++k) taken[std::size_t(keys[std::size_t(k)].second)] = true;
  const auto part = [&](auto& all, auto& to) {
    std::size_t stays = 0;
    for (std::size_t e = 0; e < all.size(); ++e)
      if (taken[e])
        to.push_back(all[e]);
      else
        all[stays++] = all[e];
    all.resize(stays);
  };
  for (std::size_t m = 0; m < data.entries.index.size(); ++m)
    part(data.entries.index[m], held.entries.index[m]);
  part(data.entries.value, held.entries.value);
  if (!data.weights.empty()) part(data.weights, held.weights);
  return held;
}

Vector predict(const TensorModel& model, const std::vector<std::vector<int>>& places) {
  Vector x = predictors_at(model, places);
  for (double& each : x) each = mean_of(model.loss, model.own_terms, each);
  return x;
}

TensorAccuracy accuracy(const TensorModel& model, const ObservedTensor& data) {
  TensorAccuracy figures;
  figures.count = data.size();
  const Vector x = predictors_at(model, data.entries.index);
  double total = 0;
  for (Index e = 0; e < data.size(); ++e) {
    const double y = data.entries.value[std::size_t(e)];
    const double weight = data.weights.empty() ? 1.0 : data.weights[std::size_t(e)];
    if (weight == 0) continue;
    const double error = y - mean_of(model.loss, model.own_terms, x[e]);
    total += weight;
    figures.rmse += weight * error * error;
    figures.mae += weight * std::abs(error);
    figures.deviance += 2 * weight * half_deviance(model, y, x[e]);
  }
  if (!(total > 0)) return figures;
  figures.rmse = std::sqrt(figures.rmse / total);
  figures.mae /= total;
  figures.deviance /= total;
  return figures;
}

TensorCompletion complete_tensor(ObservedTensor data, const AtomSets& sets,
                                 const TensorCompletionOptions& options) {
  check_options(sets, options);
  TensorRun run(sets, options);
  if (options.rank > 0) {
    run.path(data, {}, options.rank);
    return std::move(run).result();
  }
  const double share = options.validation * double(data.size());
  if (share < double(kFewestHeldBack))
    throw InvalidInput(
        fmt::format("{} entries are too few to hold {} of them back and choose a rank by; give the rank",
                    data.size(), Index(share)));
  const ObservedTensor held =
      hold_back(data, options.validation, kMostHeldBack, options.seed, sharing_of(sets, data));
  run.path(data, held, options.max_rank);
  if (options.or_none && options.regularization.kind != Regularization::none && !run.interrupted())
    run.try_none(data, held, options.max_rank);
  if (!run.interrupted() && run.best_rank() > 0) {
    append_entries(data, held);
    run.fit_all(data);
  }
  return std::move(run).result();
}

}  // namespace pursuit
