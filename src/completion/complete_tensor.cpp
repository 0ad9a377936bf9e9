#include "pursuit/completion/complete_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "algorithms/expansion_space.hpp"
#include "algorithms/identity.hpp"
#include "algorithms/observed_tensor_atoms.hpp"
#include "algorithms/pursue_atoms.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "completion/states.hpp"
#include "completion/tensor_models.hpp"
#include "completion/tensor_places.hpp"
#include "objective/entry_loss.hpp"
#include "objective/listed_tensor.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

constexpr Index kFewestHeldBack = 50;    // fewer say nothing
constexpr int kRanksWithoutBetter = 5;   // atoms without a better validation error before a path ends
constexpr int kOwnRounds = 20;           // to fit offsets and the like in, beside atoms that are there
constexpr double kRoughTolerance = 100;  // times that of a polish: where atoms are yet to come

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

Identity identity_of(const ObservedTensor& data, const AtomSets& sets, const TensorCompletionOptions& o) {
  Identity identity;
  identity.add("command", "complete an array");
  identity.add("shape", fmt::format("{}", fmt::join(data.entries.shape, " x ")));
  for (const auto& index : data.entries.index) identity.add_list("entries", index);
  identity.add_list("entries", data.entries.value);
  identity.add_list("entry_weights", data.weights);
  identity.add("rank", double(o.rank));
  identity.add("max_rank", double(o.max_rank));
  identify(sets, data.entries.shape, std::max(o.rank, o.max_rank), identity);
  identity.add("weights", o.weights.spec());
  identity.add("loss", o.loss.spec());
  identity.add("offsets", double(o.offsets));
  identity.add("regularization", o.regularization.spec());
  identity.add("or_none", double(o.or_none));
  identity.add("corrections", double(o.corrections));
  identity.add("polish", double(o.polish));
  identity.add("polish_tolerance", o.polish_tolerance);
  identity.add("validation", o.validation);
  identity.add("restarts", double(o.restarts));
  identity.add("seed", std::to_string(o.seed));
  return identity;
}

/// One run of complete_tensor().
class TensorRun {
 public:
  TensorRun(const ObservedTensor& data, const AtomSets& sets, const TensorCompletionOptions& options)
      : sets_(sets),
        o_(options),
        shape_(data.entries.shape),
        run_({.time_limit = options.time_limit}, options.observer, {}, options.checkpoints) {
    result_.regularization = options.regularization;
    if (options.checkpoints) run_.begin_checkpoints(identity_of(data, sets, options));
    kept_ = std::make_unique<Kept>(run_.checkpoints(), "array",
                                   [this](StateArchive& archive) { visit_state(archive); });
  }

  /// One run of Algorithm 2, from the best atoms there are; keeps those of the best rank so far.
  void path(const ObservedTensor& data, const ObservedTensor& held, Index rank) {
    if (was_made()) return;
    const bool goes_on = is_in_midst();
    const auto f = make_objective(data, {.loss = o_.loss, .offsets = o_.offsets}, resolve_threads(o_.threads),
                                  sharing_of(sets_, data));
    FactorOptions as_factor;
    as_factor.rank = rank;
    as_factor.weights = o_.weights;
    as_factor.loss = o_.loss;
    require_sets_for(*f, sets_, as_factor);
    if (best_rank() > 0 && !goes_on) {
      f->move_to(result_.model.atoms);
      for (int round = 0; round < kOwnRounds; ++round) f->fit_own_terms();
    }
    const bool paid = is_paid();
    CorrectionOptions correction;
    correction.checkpoints = run_.checkpoints();
    ExpansionSpace space(*f, sets_, o_.weights, {.restarts = o_.restarts, .seed = o_.seed}, correction,
                         result_.regularization);
    const bool choosing = held.size() > 0;
    double weight = 0;  // of all entries
    for (const double each : data.weights) weight += each;
    if (data.weights.empty()) weight = double(data.size());
    Index since = 0;
    int sweeps = 0;
    double judged = -1;
    if (!goes_on) best_error_ = std::numeric_limits<double>::infinity();
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
    const Kept kept(run_.checkpoints(), "path", [&](StateArchive& archive) {
      archive("since", since);
      archive("sweeps", sweeps);
      archive("judged", judged);
    });
    std::function<void()> end;
    Run inner(run_, [&](const Moment& moment) {
      const bool new_atom = moment.phase == Moment::Phase::atom;
      if (!new_atom) sweeps = moment.sweep;
      const double error = new_atom ? judge() : Moment::kUnknown;
      if (since >= kRanksWithoutBetter) end();
      return run_.go_on({.phase = Moment::Phase::growing,
                         .rank = moment.rank,
                         .target_rank = moment.target_rank,
                         .sweep = int(moment.rank),
                         .max_sweeps = int(moment.target_rank),
                         .relative_error = moment.relative_error,
                         .validation = error});
    });
    end = [&] { inner.finish(Stop::no_gain); };
    const PursuitOutcome outcome = pursue(space, steps, inner);
    space.drop_weightless();
    // A run that was stopped inside a correction, or was polished, ends without a last word.
    if (f->value() != judged || result_.model.atoms.factors.modes() != f->modes()) judge();
    result_.trace = outcome.trace;
    run_.finish(outcome.stop == Stop::interrupted && since > 0 ? Stop::no_gain : outcome.stop);
    made_ = passes_;
  }

  /// Self-tuned factors that are free of each other, entry by entry, and of which nothing else is fitted.
  bool moves_rows() const {
    bool free = result_.regularization.kind == Regularization::self_tuned && !o_.offsets &&
                o_.weights.kind == WeightRule::free;
    for (Index panel = 0; panel < sets_.panels(); ++panel)
      free = free && !sets_.panel(panel).varies() && sets_.of(panel, 0).traits().is_sphere();
    return free;
  }

  /// The mean of several models of free factors.
  void take_mean_of_models(const ObservedTensor& data) {
    sharing_of(sets_, data);  // sets that do not fit are refused
    require_observed(data);
    MeanOfModels mean = mean_of_models(data, o_, run_);
    result_.path = std::move(mean.path);
    result_.model = {std::move(mean.atoms), o_.loss, {}};
    const double rmse = accuracy(result_.model, data).rmse;
    result_.null_objective = 0.5 * mean.squares;
    result_.objective = 0.5 * mean.weight * rmse * rmse;
    const double share = result_.null_objective > 0 ? result_.objective / result_.null_objective : 0;
    result_.trace = {{.rank = result_.model.atoms.rank(),
                      .objective = result_.objective,
                      .relative_error = std::sqrt(share),
                      .gain = result_.null_objective - result_.objective,
                      .sweeps = mean.sweeps,
                      .seconds = run_.seconds()}};
  }

  /// The same where factors pay nothing; the better of both stays.
  void try_none(const ObservedTensor& data, const ObservedTensor& held, Index rank) {
    if (made_ > passes_) return void(was_made());
    if (!is_in_midst()) {
      keep_judged();
      result_.model.atoms = {};
      result_.regularization = {};
    }
    path(data, held, rank);
    if (best_error_ < judged_error_) return;
    judged_.path = std::move(result_.path);
    result_ = judged_;
    run_.finish(judged_stop_);
  }

  /// With all entries, as many atoms as were best. What factors pay is learned with them, and less and less
  /// the longer they move: where they pay they start anew, and a run that is stopped keeps those that were
  /// judged.
  void fit_all(const ObservedTensor& data) {
    if (made_ > passes_) return void(was_made());
    const bool paid = is_paid();
    if (!is_in_midst()) {
      keep_judged();
      if (paid) result_.model.atoms = {};
    }
    path(data, {}, judged_.model.atoms.rank());
    if (paid && run_.stopped()) {
      result_.model = judged_.model;
      result_.objective = judged_.objective;
      result_.null_objective = judged_.null_objective;
    }
    run_.finish(judged_stop_);
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

  /// Of a run that goes on: whether the next pass is behind it, and whether it was left inside of it.
  bool was_made() { return passes_++ < made_; }
  bool is_in_midst() const { return run_.checkpoints() && run_.checkpoints()->resumes("pursuit"); }

  void keep_judged() {
    judged_ = result_;
    judged_error_ = best_error_;
    judged_stop_ = run_.stop();
  }

  void visit_state(StateArchive& archive) {
    archive("made", made_, 0, 3);
    archive("best_error", best_error_);
    archive("judged_error", judged_error_);
    archive("judged_stop", judged_stop_, 0, Index(Stop::interrupted));
    visit(archive, "result", result_);
    visit(archive, "judged", judged_);
  }

  void visit(StateArchive& archive, const std::string& name, TensorCompletion& result) const {
    StateArchive own = archive.in(name);
    Expansion& atoms = result.model.atoms;
    bool there = atoms.factors.modes() == sets_.modes();
    own("there", there);
    if (archive.reads()) atoms = there ? no_atoms() : Expansion();
    if (there) pursuit::visit(own, "atoms", atoms);
    pursuit::visit(own, "terms", result.model.own_terms);
    const OwnTerms& terms = result.model.own_terms;
    own.require(terms.row_offsets.size() == 0 || fit(terms), "offsets are not as many as places");
    if (archive.reads()) result.model.loss = o_.loss;
    pursuit::visit(own, "path", result.path);
    pursuit::visit(own, "trace", result.trace);
    pursuit::visit(own, result.regularization);
    own("objective", result.objective);
    own("null_objective", result.null_objective);
  }

  Expansion no_atoms() const {
    std::vector<Panel> panels;
    std::vector<Index> panel_of;
    for (Index panel = 0; panel < sets_.panels(); ++panel)
      panels.emplace_back(shape_[std::size_t(sets_.mode_of(panel))], 0);
    for (Index mode = 0; mode < sets_.modes(); ++mode) panel_of.push_back(sets_.panel_of(mode));
    Expansion atoms;
    atoms.factors = {std::move(panels), std::move(panel_of)};
    atoms.weights = Vector(0);
    return atoms;
  }

  bool fit(const OwnTerms& terms) const {
    if (terms.further_offsets.size() + 2 != shape_.size()) return false;
    for (std::size_t mode = 2; mode < shape_.size(); ++mode)
      if (terms.further_offsets[mode - 2].size() != shape_[mode]) return false;
    return terms.row_offsets.size() == shape_[0] && terms.col_offsets.size() == shape_[1];
  }

  const AtomSets& sets_;
  const TensorCompletionOptions& o_;
  const std::vector<Index> shape_;
  Run run_;
  TensorCompletion result_;
  double best_error_ = 0;
  Index made_ = 0, passes_ = 0;  // passes that are done, and those that were asked for
  TensorCompletion judged_;      // before a pass that may be taken back
  double judged_error_ = 0;
  Stop judged_stop_ = Stop::rank_reached;
  std::unique_ptr<Kept> kept_;
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
    keys.emplace_back(random_key(start, place), e);
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
  TensorRun run(data, sets, options);
  if (options.rank > 0) {
    run.path(data, {}, options.rank);
    return std::move(run).result();
  }
  const double share = options.validation * double(data.size());
  if (share < double(kFewestHeldBack))
    throw InvalidInput(
        fmt::format("{} entries are too few to hold {} of them back and choose a rank by; give the rank",
                    data.size(), Index(share)));
  if (run.moves_rows()) {
    run.take_mean_of_models(data);
    return std::move(run).result();
  }
  const ObservedTensor held =
      hold_back(data, options.validation, kMostEntriesHeldBack, options.seed, sharing_of(sets, data));
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
