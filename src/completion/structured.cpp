#include "pursuit/completion/structured.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "algorithms/identity.hpp"
#include "completion/states.hpp"
#include "completion/structured_check.hpp"
#include "completion/structured_loss.hpp"
#include "completion/structured_reach.hpp"
#include "completion/structured_run.hpp"
#include "completion/triangles.hpp"
#include "completion/units.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit {
namespace {

constexpr double kRidgeOfDeviation =
    0.09;                          // per entry, where factors share the size of the data between them
constexpr double kPlainRidge = 9;  // of deviations: beside offsets, the same for all rows and columns
constexpr double kRidgeStep = 4;   // from one ridge that is tried to the next
constexpr int kRidges = 6;         // upwards or downwards, at most

double deviation_of(const std::vector<float>& values) {
  double mean = 0, squares = 0;
  for (const float value : values) mean += value / double(values.size());
  for (const float value : values) squares += (value - mean) * (value - mean) / double(values.size());
  return std::sqrt(squares);
}

/// What is tried, with values of this standard deviation, and so many times the atoms of sets that reach all
/// entries: more atoms fit more noise, and pay for it.
std::vector<StructuredOptions> ways_of(const StructuredOptions& options, double deviation, double atoms,
                                       bool judged) {
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
  ridged.regularization = {Regularization::ridge, kPlainRidge * std::pow(atoms, 0.25) * deviation};
  ridged.corrections = {3};
  return {with_offsets, counted, plain, ridged};
}

Identity identity_of(const WeightedEntries& training, const WeightedEntries& validation,
                     const StructuredOptions& o) {
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
void explore(StructuredRun& run, const StructuredOptions& options, const WeightedEntries& training,
             const WeightedEntries& validation) {
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
  require_possible(options, entries);
  const int threads = resolve_threads(options.threads);
  WeightedEntries training(std::move(entries), options.entry_weights);
  GroupedEntries seen = ObservedMatrix(training.entries, threads).take_by_row();
  if (options.symmetric) training.entries = upper_triangle(training.entries);
  const ValueRange values = range_of(training.entries.value, threads);
  const Range range = options.range.value_or(Range{values.low, values.high});
  const double unit = unit_under(options.loss, values);
  divide(training.entries.value, unit);
  WeightedEntries validation;
  if (options.validation_entries) {
    validation.entries = *options.validation_entries;
    divide(validation.entries.value, unit);
  } else {
    validation = training.hold_back(options.validation, options.seed, threads);
  }

  // Offsets, regularization, rank and corrections are judged by entries that none of them has seen.
  std::vector<StructuredOptions> ways = ways_of(
      options, unit * deviation_of(training.entries.value),
      atoms_for_reach(options, training.entries.rows, training.entries.cols), validation.entries.size() > 0);
  Run whole({.time_limit = options.time_limit}, options.observer, {}, options.checkpoints);
  if (options.checkpoints) whole.begin_checkpoints(identity_of(training, validation, options));
  Index at = 0;           // the way that is being tried
  bool all_used = false;  // the best one goes on with all entries
  const Kept kept(whole.checkpoints(), "structured", [&](StateArchive& archive) {
    archive("way", at, 0, Index(ways.size()));
    archive("all_used", all_used);
  });
  // Offsets are left in their midst, and fitted again; ranks have most of a state, which is too much to bring
  // together after every step.
  if (options.checkpoints && (!options.team || options.team->ranks().size() == 1))
    options.checkpoints->hold_states();
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
