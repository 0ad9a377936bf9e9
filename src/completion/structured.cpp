#include "pursuit/completion/structured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "algorithms/expansion_space.hpp"
#include "algorithms/identity.hpp"
#include "algorithms/nonnegative_parts.hpp"
#include "base/chunks.hpp"
#include "completion/predictor.hpp"
#include "completion/states.hpp"
#include "completion/structured_loss.hpp"
#include "completion/triangles.hpp"
#include "completion/units.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "pursuit/objective/observed.hpp"

namespace pursuit {
namespace {

constexpr double kRidgeOfDeviation =
    0.09;                             // per entry, where factors share the size of the data between them
constexpr double kPlainRidge = 9;     // of deviations: beside offsets, the same for all rows and columns
constexpr int kRanksWithoutGain = 5;  // atoms without a better validation error before a path ends
constexpr double kRoughly = 100;      // times the tolerance of a polish: where atoms are yet to come
constexpr double kNoError = 1e-12;    // of all squares: what is left is rounding of single precision
constexpr double kRidgeStep = 4;      // from one ridge that is tried to the next
constexpr int kRidges = 6;            // upwards or downwards, at most

/// Whether f is not half the squared error.
bool by_loss(const StructuredOptions& o) {
  return o.loss.kind != Loss::squares || !o.entry_weights.empty();
}

void check_loss(const StructuredOptions& o, const ObservedEntries& entries) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw InvalidArgument(what);
  };
  require(!o.symmetric, "loss: atoms u u^T go with plain squares only, without weights of entries");
  require(o.exact_corrections, "loss: the presets are of plain squares, without weights of entries");
  require(o.regularization.kind != Regularization::count_weighted_ridge,
          fmt::format("regularization {}: with a loss or weights of entries it is none, a number or auto",
                      o.regularization.spec()));
  if (o.loss.has_positive_means())
    require_nonnegative_parts(o.loss, o.weights, AtomSets(o.left, o.right), {entries.rows, entries.cols},
                              o.max_rank, {"left set", "right set"});
  require(o.entry_weights.empty() || Index(o.entry_weights.size()) == entries.size(),
          fmt::format("entry_weights: {} for {} entries; there must be as many", o.entry_weights.size(),
                      entries.size()));
  bool any = o.entry_weights.empty();
  for (std::size_t e = 0; e < o.entry_weights.size(); ++e) {
    const float weight = o.entry_weights[e];
    if (!(weight >= 0 && std::isfinite(weight)))
      throw InvalidInput(fmt::format(
          "entry_weights: the weight of the entry at ({}, {}) is {}; allowed are numbers of at least 0",
          entries.row[e], entries.col[e], weight));
    any = any || weight > 0;
  }
  if (!any) throw InvalidInput("entry_weights: every entry has weight 0; nothing was seen then");
  for (std::size_t e = 0; e < entries.row.size(); ++e)
    if (!o.loss.accepts(entries.value[e]) && (o.entry_weights.empty() || o.entry_weights[e] > 0))
      throw InvalidInput(fmt::format(
          "the entry at row {}, column {} is {}; loss {} takes {}; {} would take it", entries.row[e],
          entries.col[e], entries.value[e], o.loss.spec(), o.loss.domain(), losses_for(entries.value[e])));
}

/// Entries with their weights, which are entries of the same places; none: all count alike.
struct Weighted {
  ObservedEntries entries, weights;

  Weighted hold_back(double share, std::uint64_t seed, int threads) {
    Weighted held;
    if (weights.size() > 0) held.weights = pursuit::hold_back(weights, share, seed, threads);
    held.entries = pursuit::hold_back(entries, share, seed, threads);
    return held;
  }
  void put_back(const Weighted& held) {
    pursuit::put_back(entries, held.entries);
    if (held.weights.size() > 0) pursuit::put_back(weights, held.weights);
  }
};

void check(const StructuredOptions& o, const ObservedEntries& entries) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw InvalidArgument(what);
  };
  require(o.max_rank >= 1, fmt::format("rank {}: at least one atom is needed", o.max_rank));
  require(!o.corrections.empty(), "corrections: at least one number of sweeps is needed");
  for (const int sweeps : o.corrections)
    require(sweeps >= 0, fmt::format("corrections {}: must be 0 or more", sweeps));
  require(o.polish >= 0, fmt::format("polish {}: must be 0 or more", o.polish));
  require(o.polish_tolerance >= 0, fmt::format("polish_tolerance {}: must be 0 or more", o.polish_tolerance));
  require(o.validation >= 0 && o.validation < 1,
          fmt::format("validation {}: must be at least 0 and below 1", o.validation));
  require(o.restarts >= 1, fmt::format("restarts {}: must be 1 or more", o.restarts));
  require(o.threads >= 0, fmt::format("threads {}: must be 0 (all cores) or more", o.threads));
  require(!o.range || o.range->lowest <= o.range->highest,
          fmt::format("range {} to {}: the lowest value must not be above the highest",
                      o.range ? o.range->lowest : 0.0, o.range ? o.range->highest : 0.0));
  require(!o.symmetric || entries.rows == entries.cols,
          fmt::format("symmetric completion needs as many columns as rows; the matrix is {} x {}",
                      entries.rows, entries.cols));
  require(!o.symmetric || o.regularization.kind == Regularization::none ||
              o.regularization.kind == Regularization::ridge,
          fmt::format("regularization {}: atoms u u^T are regularised by a number, or not at all (none)",
                      o.regularization.spec()));
  require(o.regularization.kind == Regularization::none || o.weights.kind != WeightRule::convex,
          fmt::format("weights {}: go without regularization only; regularised weights are free or nonneg",
                      o.weights.spec()));
  require(!o.choose || !o.symmetric, "symmetric completion has no ways to choose from: choose must be false");
  o.left.require_dimension(entries.rows);
  o.right.require_dimension(entries.cols);
  if (by_loss(o)) check_loss(o, entries);
  if (const ObservedEntries* validation = o.validation_entries) {
    require_valid(*validation);
    if (validation->rows > entries.rows || validation->cols > entries.cols)
      throw InvalidInput(fmt::format("validation entries: of a {} x {} matrix, but the matrix is {} x {}",
                                     validation->rows, validation->cols, entries.rows, entries.cols));
  }
}

/// A number of the user's is in the units of the data where it stands beside squares of factors; an oracle's
/// atoms have unit length.
Regularization in_unit(Regularization regularization, bool by_oracle, double unit, const Loss& loss) {
  if (!by_oracle) regularization.lambda = ridge_in_unit(loss, regularization.lambda, unit);
  return regularization;
}

/// Whether one ridge after the other is tried. Far from one they are tried in the unit of the data.
bool tries_ridges(const StructuredOptions& o) {
  return by_loss(o) && o.regularization.kind == Regularization::self_tuned;
}
double unit_of_price(const StructuredOptions& o, double unit) {
  return tries_ridges(o) && std::abs(std::log2(unit)) > kFarUnit ? 1.0 : unit;
}

WeightRule in_unit(WeightRule weights, double unit) {
  weights.radius /= unit;
  return weights;
}

/// What a model of means that are not negative has where no atom is, as PoissonCounts has it.
double floor_of(const ObservedEntries& entries) {
  constexpr double kModelFloor = 1e-10;  // of the mean
  double sum = 0;
  for (const float value : entries.value) sum += value;
  return sum > 0 ? kModelFloor * sum / double(entries.size()) : 1.0;
}

double deviation_of(const std::vector<float>& values) {
  double mean = 0, squares = 0;
  for (const float value : values) mean += value / double(values.size());
  for (const float value : values) squares += (value - mean) * (value - mean) / double(values.size());
  return std::sqrt(squares);
}

/// What is tried, with values of this standard deviation.
std::vector<StructuredOptions> ways_of(const StructuredOptions& options, double deviation, bool judged) {
  if (!options.choose) return {options};
  StructuredOptions with_offsets = options;
  with_offsets.offsets = true;
  with_offsets.regularization = {Regularization::self_tuned, 0};
  if (!judged) return {with_offsets};
  with_offsets.corrections = {1, 3};
  StructuredOptions counted = options;
  counted.offsets = false;
  counted.regularization = {Regularization::count_weighted_ridge, kRidgeOfDeviation * deviation};
  counted.corrections = {3};
  StructuredOptions plain = options;
  plain.offsets = false;
  plain.regularization = {Regularization::self_tuned, 0};
  StructuredOptions ridged = with_offsets;
  ridged.regularization = {Regularization::ridge, kPlainRidge * deviation};
  ridged.corrections = {3};
  return {with_offsets, counted, plain, ridged};
}

/// One run of complete_structured(), on entries in a unit that is a power of two.
class StructuredRun {
 public:
  /// `number` is its own among those of the run.
  StructuredRun(const StructuredOptions& options, Index rows, Index cols, Range range, double unit, Run& run,
                std::size_t number)
      : o_(options), unit_(unit), run_(run) {
    base_.lowest = range.lowest;
    base_.highest = range.highest;
    base_.rows = plain_side(rows);
    base_.cols = plain_side(cols);
    base_.loss = in_unit(options.loss, unit);
    best_ = {Panel(rows, 0), Panel(cols, 0), Vector(0)};
    kept_ = std::make_unique<Kept>(run.checkpoints(), "way" + std::to_string(number),
                                   [this](StateArchive& archive) { visit_state(archive); });
  }
  bool resumed() const { return kept_->resumed(); }

  /// Mean and offsets of these entries, where they were asked for.
  void fit_offsets(const ObservedEntries& entries) {
    if (!o_.offsets || by_loss(o_) || interrupted()) return;
    CompletionOptions offsets;
    offsets.max_rank = 0;
    offsets.use_pattern = false;
    offsets.validation = 0;
    offsets.range = Range{base_.lowest, base_.highest};
    offsets.seed = o_.seed;
    offsets.threads = o_.threads;
    offsets.observer = [&](const Moment& moment) {
      return go_on(0, 1, unit_ * moment.noise, Moment::kUnknown);
    };
    CompletionResult result = complete(o_.symmetric ? mirrored(entries) : entries, offsets);
    if (result.interrupted() && run_.checkpoints()) run_.checkpoints()->leave();
    if (!result.interrupted() || best_.rank() == 0)
      base_ = std::move(result.model);  // atoms belong to their offsets
  }

  /// One run of Algorithm 2; keeps the atoms of the best rank so far.
  void path(Weighted training, const Weighted& validation, int corrections, const Regularization& price,
            Index rank) {
    if (paths_++ < history_.size()) {  // it was made before
      now_ = history_[paths_ - 1];
      return;
    }
    const double entry_count = double(count_of(training.entries, o_.symmetric));
    const auto objective = objective_of(std::move(training));
    Objective& f = *objective;
    CorrectionOptions correction;
    correction.by_oracle = !o_.exact_corrections || o_.symmetric;
    correction.checkpoints = run_.checkpoints();
    ExpansionSpace space(f, AtomSets(o_.left, o_.right, o_.symmetric),
                         in_unit(o_.weights, o_.loss.has_log_link() ? 1.0 : unit_),
                         {.restarts = o_.restarts, .seed = o_.seed}, correction,
                         in_unit(price, correction.by_oracle, unit_of_price(o_, unit_), o_.loss));
    const bool judges = validation.entries.size() > 0;
    Index since = 0;
    double judged = -1;        // squared error of the last model that was judged
    int sweeps = corrections;  // of the last correction
    const auto judge = [&] {
      judged = 2 * f.value();
      const double error = judges ? error_of(space.expansion(), f, validation) : Moment::kUnknown;
      const bool squares = o_.loss.kind == Loss::squares;
      stages_.push_back({space.expansion().rank(), sweeps,
                         squares ? unit_ * std::sqrt(judged / entry_count) : Moment::kUnknown,
                         unit_of_errors(o_.loss, unit_) * error, run_.seconds()});
      ++since;
      if (!judges || error < best_error_) {
        best_error_ = error;
        best_ = space.expansion();
        best_terms_ = f.own_terms();
        best_corrections_ = corrections;
        best_price_ = price;
        best_noise_ = judged / entry_count;
        since = 0;
      }
      return unit_of_errors(o_.loss, unit_) * error;
    };
    const Kept kept(run_.checkpoints(), "path", [&](StateArchive& archive) {
      archive("since", since);
      archive("judged", judged);
      archive("sweeps", sweeps);
    });
    PursuitOptions steps{.rank = rank, .corrections = corrections};
    if (o_.polish > 0) {
      steps.corrections = o_.polish;
      steps.correction_tolerance = kRoughly * o_.polish_tolerance;
      steps.polish = judges ? 0 : o_.polish;  // of the rank that was chosen
      steps.polish_tolerance = o_.polish_tolerance;
    }
    std::function<void()> end;
    Run inner(run_, [&](const Moment& moment) {
      const bool new_atom = moment.phase == Moment::Phase::atom;
      if (!new_atom && o_.polish > 0) sweeps = moment.sweep;
      const double error = new_atom ? judge() : Moment::kUnknown;
      if (since >= kRanksWithoutGain) end();
      return go_on(moment.rank, moment.target_rank, Moment::kUnknown, error);
    });
    end = [&] { inner.finish(Stop::no_gain); };
    const PursuitOutcome outcome = pursue(space, steps, inner);
    settled_ = o_.polish == 0 || space.expansion().rank() == 0 || space.converged() ||
               f.value() <= kNoError * f.null_value();
    // A run that was stopped inside a correction, or that has nothing left to explain, ends without a last
    // word.
    if (space.expansion().rank() > 0 && 2 * f.value() != judged) judge();
    if (best_noise_ < 0) best_noise_ = 2 * f.value() / entry_count;  // there was nothing to explain
    finish(best_.rank() >= o_.max_rank                      ? Stop::rank_reached
           : since > 0 || outcome.stop == Stop::interrupted ? Stop::no_gain
                                                            : Stop::no_ascent);
    now_ = {best_error_, best_price_, best_corrections_, best_.rank()};
    history_.push_back(now_);
  }

  CompletionResult result(GroupedEntries seen, Range range) && {
    CompletionResult result;
    result.seen = std::move(seen);
    CompletionModel& model = result.model = model_of(best_, best_terms_);
    note_unseen(model, result.seen);
    if (by_loss(o_)) {
      for (CompletionSide* side : {&model.rows, &model.cols}) average_offsets_of_unseen(*side);
      model.noise_variance = dispersion_of(model, result.seen, unit_);
    } else if (best_noise_ >= 0) {
      model.noise_variance = best_noise_ / (model.scale * model.scale);
    }
    model.loss = o_.loss;
    leave_unit(unit_, model);
    model.lowest = range.lowest;
    model.highest = range.highest;
    require_sound(model);
    result.path = std::move(stages_);
    result.stop = stop();
    result.predictions = predict(model, o_.predict, o_.threads);
    result.seconds = run_.seconds();
    return result;
  }

  /// On the entries that judge, of the best so far.
  double best_error() const { return now_.error; }
  /// Whether the last path ended where a polish had nothing left to gain.
  bool settled() const { return settled_; }
  void forget_best() { best_error_ = std::numeric_limits<double>::infinity(); }
  bool interrupted() const { return run_.stopped(); }
  Stop stop() const { return run_.stopped() ? run_.stop() : reason_; }
  void finish(Stop reason) { reason_ = reason; }
  Index best_rank() const { return now_.rank; }
  int best_corrections() const { return now_.corrections; }
  const Regularization& best_price() const { return now_.price; }

 private:
  /// What is known after a path.
  struct Known {
    double error = std::numeric_limits<double>::infinity();
    Regularization price = {};
    int corrections = 0;
    Index rank = 0;
  };
  static void visit_price(StateArchive& archive, Regularization& price) {
    archive("price", price.kind, 0, Index(Regularization::self_tuned));
    archive("lambda", price.lambda);
  }

  /// Mean and offsets are found again.
  void visit_state(StateArchive& archive) {
    Index paths = Index(history_.size());
    archive("paths", paths, 0, 1000);
    history_.resize(std::size_t(paths));
    for (Index k = 0; k < paths; ++k) {
      Known& known = history_[std::size_t(k)];
      StateArchive own = archive.in("after", k);
      own("error", known.error);
      visit_price(own, known.price);
      own("corrections", known.corrections);
      own("rank", known.rank, 0, o_.max_rank);
    }
    visit(archive, "stages", stages_);
    bool one_panel = best_.symmetric();
    archive("one_panel", one_panel);
    archive.require(!one_panel || o_.symmetric, "its atoms are symmetric");
    if (archive.reads())
      best_ = {Panel(best_.left().rows(), 0), Panel(best_.right().rows(), 0), Vector(0), one_panel};
    visit(archive, "best", best_);
    visit(archive, "terms", best_terms_);
    archive.require(
        fits(best_terms_.row_offsets, best_.left()) && fits(best_terms_.col_offsets, best_.right()),
        "offsets are not as many as rows and columns");
    visit_price(archive, best_price_);
    archive("error", best_error_);
    archive("noise", best_noise_);
    archive("corrections", best_corrections_);
    archive("settled", settled_);
    archive("reason", reason_, 0, Index(Stop::interrupted));
  }
  static bool fits(const Vector& offsets, const Panel& panel) {
    return offsets.size() == 0 || offsets.size() == panel.rows();
  }

  std::unique_ptr<Objective> objective_of(Weighted training) {
    const int threads = resolve_threads(o_.threads);
    ObservedEntries& entries = training.entries;
    if (by_loss(o_)) {
      if (o_.loss.has_positive_means()) base_.mean = floor_of(entries);
      return make_objective(entries, {base_.loss, weights_of(training.weights), o_.offsets}, threads);
    }
    const Predictor offsets(base_);  // nothing where none were asked for
    const Chunks chunks(entries.size());
    parallel_for(chunks.count(), threads, [&](Index chunk) {
      for (Index e = chunks.first(chunk); e < chunks.first(chunk + 1); ++e)
        entries.value[e] -= float(offsets.unclipped({entries.row[e], entries.col[e]}).value);
    });
    return std::make_unique<ObservedSquares>(
        ObservedMatrix(o_.symmetric ? mirrored(std::move(entries)) : std::move(entries), threads),
        o_.symmetric, threads);
  }

  CompletionModel model_of(const Expansion& atoms, const OwnTerms& terms) const {
    CompletionModel model = base_;
    model.atoms = atoms;
    if (by_loss(o_)) take_terms(terms, model);
    return model;
  }
  double error_of(const Expansion& atoms, const Objective& f, const Weighted& validation) const {
    return mean_error(model_of(atoms, f.own_terms()), positions_of(validation.entries),
                      validation.entries.value, validation.weights.value, o_.threads);
  }
  bool go_on(Index rank, Index target_rank, double noise, double validation) {
    return run_.go_on({.phase = Moment::Phase::growing,
                       .rank = rank,
                       .target_rank = target_rank,
                       .sweep = int(rank),
                       .max_sweeps = int(target_rank),
                       .noise = noise,
                       .validation = validation});
  }

  const StructuredOptions& o_;
  double unit_;
  CompletionModel base_;  // mean and offsets
  Run& run_;
  Stop reason_ = Stop::rank_reached;
  std::size_t paths_ = 0;  // asked for, of which those in the history were made
  std::vector<Known> history_;
  Known now_;
  std::vector<CompletionStage> stages_;
  Expansion best_;
  OwnTerms best_terms_;
  Regularization best_price_;
  double best_error_ = std::numeric_limits<double>::infinity();
  double best_noise_ = -1;  // of no model yet
  int best_corrections_ = 0;
  bool settled_ = true;
  std::unique_ptr<Kept> kept_;
};

Identity identity_of(const Weighted& training, const Weighted& validation, const StructuredOptions& o) {
  Identity identity;
  identity.add("command", "complete with atom sets");
  identity.add("shape", fmt::format("{} x {}", training.entries.rows, training.entries.cols));
  for (const ObservedEntries* part : {&training.entries, &training.weights, &validation.entries})
    identify("entries", *part, identity);
  identity.add("rank", double(o.max_rank));
  identify(AtomSets(o.left, o.right, o.symmetric), {training.entries.rows, training.entries.cols}, o.max_rank,
           identity);
  identity.add("weights", o.weights.spec());
  identity.add("loss", o.loss.spec());
  identity.add("regularization", o.regularization.spec());
  identity.add("offsets", double(o.offsets));
  identity.add("choose", double(o.choose));
  identity.add("exact_corrections", double(o.exact_corrections));
  identity.add_list("corrections", o.corrections);
  identity.add("polish", double(o.polish));
  identity.add("polish_tolerance", o.polish_tolerance);
  identity.add("validation", o.validation);
  if (o.range) identity.add("range", fmt::format("{}:{}", o.range->lowest, o.range->highest));
  identity.add("restarts", double(o.restarts));
  identity.add("seed", std::to_string(o.seed));
  return identity;
}

/// Paths of ranks, for every number of corrections, and where a ridge is to be found for one after another
/// as long as they predict better.
void explore(StructuredRun& run, const StructuredOptions& options, const Weighted& training,
             const Weighted& validation) {
  const bool tuned = tries_ridges(options);
  const auto ridge = [](double lambda) { return Regularization{Regularization::ridge, lambda}; };
  const std::vector<int> polished = {options.polish};
  for (const int corrections : options.polish > 0 ? polished : options.corrections)
    if (!run.interrupted())
      run.path(training, validation, corrections, tuned ? ridge(1) : options.regularization,
               options.max_rank);
  if (!tuned || validation.entries.size() == 0) return;
  for (const double step : {kRidgeStep, 1 / kRidgeStep}) {
    bool better = true;
    double lambda = 1;
    for (int tried = 0; tried < kRidges && better && !run.interrupted(); ++tried) {
      const double before = run.best_error();
      run.path(training, validation, run.best_corrections(), ridge(lambda *= step), options.max_rank);
      better = run.best_error() < before;
    }
    if (run.best_price().lambda != 1) return;
  }
}

}  // namespace

StructuredOptions completion_preset(const std::string& name) {
  StructuredOptions options;
  options.max_rank = 30;
  options.corrections = {1, 3};
  options.exact_corrections = false;
  if (name == "or1mp")
    options.corrections = {0};
  else if (name == "gmpr-sparse")
    options.right = sparse_fraction(0.6);
  else if (name != "gmpr")
    throw InvalidArgument(fmt::format("preset '{}': must be or1mp, gmpr or gmpr-sparse", name));
  return options;
}

CompletionResult complete_structured(ObservedEntries entries, const StructuredOptions& options) {
  check(options, entries);
  const int threads = resolve_threads(options.threads);
  Weighted training{std::move(entries), {}};
  GroupedEntries seen = ObservedMatrix(training.entries, threads).take_by_row();
  if (options.symmetric) training.entries = upper_triangle(training.entries);
  const ValueRange values = range_of(training.entries.value, threads);
  const Range range = options.range.value_or(Range{values.low, values.high});
  const double unit = unit_under(options.loss, values);
  divide(training.entries.value, unit);
  if (!options.entry_weights.empty()) {
    training.weights = training.entries;
    training.weights.value.assign(options.entry_weights.begin(), options.entry_weights.end());
  }
  Weighted validation;
  if (options.validation_entries) {
    validation.entries = *options.validation_entries;
    divide(validation.entries.value, unit);
  } else {
    validation = training.hold_back(options.validation, options.seed, threads);
  }

  // Offsets, regularization, rank and corrections are judged by entries that none of them has seen.
  std::vector<StructuredOptions> ways =
      ways_of(options, unit * deviation_of(training.entries.value), validation.entries.size() > 0);
  Run whole({.time_limit = options.time_limit}, options.observer, {}, options.checkpoints);
  if (options.checkpoints) whole.begin_checkpoints(identity_of(training, validation, options));
  Index at = 0;           // the way that is being tried
  bool all_used = false;  // the best one goes on with all entries
  const Kept kept(whole.checkpoints(), "structured", [&](StateArchive& archive) {
    archive("way", at, 0, Index(ways.size()));
    archive("all_used", all_used);
  });
  if (options.checkpoints) {
    options.checkpoints->hold_states();  // offsets are left in their midst, and fitted again
    if (!kept.resumed()) options.checkpoints->step(whole.seconds(), false);
  }
  const Index before = at;
  std::unique_ptr<StructuredRun> best;
  for (at = 0; at < Index(ways.size()); ++at) {
    const StructuredOptions& way = ways[std::size_t(at)];
    auto run = std::make_unique<StructuredRun>(way, training.entries.rows, training.entries.cols,
                                               Range{range.lowest / unit, range.highest / unit}, unit, whole,
                                               std::size_t(at));
    if (at < before && !run->resumed()) continue;  // it was tried, and is not the best
    run->fit_offsets(training.entries);
    explore(*run, way, training, validation);
    const bool stopped = run->interrupted();
    if (!best || run->best_error() < best->best_error()) best = std::move(run);
    if (stopped) break;
  }
  if (!best) throw InvalidInput("the checkpoint is not of this run: none of its ways is there");
  StructuredRun& run = *best;
  if (validation.entries.size() > 0 && (!options.validation_entries || options.polish > 0) &&
      !run.interrupted()) {
    const Stop stop = run.stop();  // once more, with all entries
    if (!options.validation_entries) training.put_back(validation);
    if (!all_used) run.forget_best();
    all_used = true;
    run.fit_offsets(training.entries);
    if (!run.interrupted())
      run.path(std::move(training), {}, run.best_corrections(), run.best_price(), run.best_rank());
    run.finish(stop);
  }
  if (!run.settled()) run.finish(Stop::not_converged);
  CompletionResult result = std::move(run).result(std::move(seen), range);
  return result;
}

}  // namespace pursuit
