#include "completion/structured_run.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/expansion_space.hpp"
#include "base/chunks.hpp"
#include "completion/predictor.hpp"
#include "completion/states.hpp"
#include "completion/structured_check.hpp"
#include "completion/structured_loss.hpp"
#include "completion/structured_reach.hpp"
#include "completion/triangles.hpp"
#include "completion/units.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "pursuit/objective/observed.hpp"

namespace pursuit {

bool tries_ridges(const StructuredOptions& o) {
  return by_loss(o) && o.regularization.kind == Regularization::self_tuned;
}

namespace {

constexpr double kRanksWithoutGain = 5;  // atoms without a better validation error before a path ends, where
                                         // each reaches all entries
constexpr double kRoughly = 100;         // times the tolerance of a polish: where atoms are yet to come
constexpr double kNoError = 1e-12;       // of all squares: what is left is rounding of single precision

/// A number of the user's is in the units of the data where it stands beside squares of factors; an oracle's
/// atoms have unit length.
Regularization in_unit(Regularization regularization, bool by_oracle, double unit, const Loss& loss) {
  if (!by_oracle) regularization.lambda = ridge_in_unit(loss, regularization.lambda, unit);
  return regularization;
}

/// Far from one, ridges are tried in the unit of the data.
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

bool fits(const Vector& offsets, const Panel& panel) {
  return offsets.size() == 0 || offsets.size() == panel.rows();
}

}  // namespace

StructuredRun::StructuredRun(const StructuredOptions& options, Index rows, Index cols, Range range,
                             double unit, Run& run, std::size_t number)
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

void StructuredRun::fit_offsets(const ObservedEntries& entries) {
  if (!o_.offsets || by_loss(o_) || interrupted()) return;
  CompletionOptions offsets;
  offsets.max_rank = 0;
  offsets.use_pattern = false;
  offsets.validation = 0;
  offsets.range = Range{base_.lowest, base_.highest};
  offsets.seed = o_.seed;
  offsets.threads = o_.threads;
  offsets.team = o_.team;
  offsets.observer = [&](const Moment& moment) {
    return go_on(0, 1, unit_ * moment.noise, Moment::kUnknown);
  };
  CompletionResult result = complete(o_.symmetric ? mirrored(entries) : entries, offsets);
  if (!result.interrupted() || best_.rank() == 0)
    base_ = std::move(result.model);  // atoms belong to their offsets
}

void StructuredRun::path(WeightedEntries training, const WeightedEntries& validation, int corrections,
                         const Regularization& price, Index rank) {
  if (paths_++ < history_.size()) {  // it was made before
    now_ = history_[paths_ - 1];
    return;
  }
  const double entry_count = double(count_of(training.entries, o_.symmetric));
  const auto patience =
      Index(kRanksWithoutGain * atoms_for_reach(o_, training.entries.rows, training.entries.cols));
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
    if (since >= patience) end();
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

CompletionResult StructuredRun::result(GroupedEntries seen, Range range) && {
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
  note_signs(o_.weights, o_.left, o_.symmetric ? o_.left : o_.right, model);
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

void StructuredRun::visit_state(StateArchive& archive) {
  Index paths = Index(history_.size());
  archive("paths", paths, 0, 1000);
  history_.resize(std::size_t(paths));
  for (Index k = 0; k < paths; ++k) {
    Known& known = history_[std::size_t(k)];
    StateArchive own = archive.in("after", k);
    own("error", known.error);
    visit(own, known.price);
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
  archive.require(fits(best_terms_.row_offsets, best_.left()) && fits(best_terms_.col_offsets, best_.right()),
                  "offsets are not as many as rows and columns");
  visit(archive, best_price_);
  archive("error", best_error_);
  archive("noise", best_noise_);
  archive("corrections", best_corrections_);
  archive("settled", settled_);
  archive("reason", reason_, 0, Index(Stop::interrupted));
}

std::unique_ptr<Objective> StructuredRun::objective_of(WeightedEntries training) {
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
      ObservedMatrix(o_.symmetric ? mirrored(std::move(entries)) : std::move(entries), threads), o_.symmetric,
      threads, o_.team);
}

CompletionModel StructuredRun::model_of(const Expansion& atoms, const OwnTerms& terms) const {
  CompletionModel model = base_;
  model.atoms = atoms;
  if (by_loss(o_)) take_terms(terms, model);
  return model;
}

double StructuredRun::error_of(const Expansion& atoms, const Objective& f,
                               const WeightedEntries& validation) const {
  return mean_error(model_of(atoms, f.own_terms()), positions_of(validation.entries),
                    validation.entries.value, validation.weights.value, o_.threads);
}

bool StructuredRun::go_on(Index rank, Index target_rank, double noise, double validation) {
  return run_.go_on({.phase = Moment::Phase::growing,
                     .rank = rank,
                     .target_rank = target_rank,
                     .sweep = int(rank),
                     .max_sweeps = int(target_rank),
                     .noise = noise,
                     .validation = validation});
}

}  // namespace pursuit
