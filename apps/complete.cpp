#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>

#include "apps/complete_input.hpp"
#include "apps/complete_tensor.hpp"
#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/named_sets.hpp"
#include "apps/output.hpp"
#include "apps/ranks.hpp"
#include "apps/rehearsal.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/completion/complete_in_time.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/ranking.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/io/tensor_file.hpp"
#include "pursuit/report/svg.hpp"

namespace pursuit::app {
namespace {

GroupedEntries with_held_out(const GroupedEntries& earlier, ObservedEntries test) {
  if (earlier.index.empty()) return ObservedMatrix(std::move(test)).take_by_row();
  return ObservedMatrix(merged(earlier, std::move(test))).take_by_row();
}

/// How many of the entries are among those seen.
Index count_seen(const GroupedEntries& seen, const ObservedEntries& entries) {
  Index count = 0;
  for (std::size_t e = 0; e < entries.row.size(); ++e)
    if (const int i = entries.row[e]; i >= 0)
      count += std::binary_search(seen.index.begin() + seen.start[i], seen.index.begin() + seen.start[i + 1],
                                  entries.col[e]);
  return count;
}

/// What the three kinds of completion have in common.
template <class Options>
void set_common(Options& options, const CompleteCommand& c, const CompletionInput& input) {
  if (c.rank >= 0) options.max_rank = c.rank;
  options.validation = c.validation;
  options.predict = positions_of(input.test);
  options.seed = c.seed;
  options.threads = c.common.threads;
  options.team = rank_team();
  options.time_limit = c.time_limit;
  options.observer = observe("complete", c.common);
}

/// What those have that are not made of atom sets.
template <class Options>
void set_knowledge(Options& options, const CompletionInput& input) {
  options.interrupted = was_interrupted;
  if (input.row_features) options.row_features = &input.row_features->table;
  if (input.col_features) options.col_features = &input.col_features->table;
  if (!input.earlier) return;
  options.start = &input.earlier->model;
  options.start_entries = &input.earlier->seen;
}

std::optional<ImplicitSets> implicit_sets(const CompleteCommand& c) {
  if (!structured(c)) return std::nullopt;
  const auto set = [](const std::string& spec) { return parse_atoms(spec.empty() ? "sphere" : spec); };
  return ImplicitSets{set(c.left), set(c.right), parse_weight_rule(c.weights)};
}

CompletionResult compute_implicit(const CompleteCommand& c, CompletionInput& input) {
  ImplicitOptions options;
  set_common(options, c, input);
  set_knowledge(options, input);
  if (!c.confidence.empty()) options.confidence = parse_confidence(c.confidence);
  options.sets = implicit_sets(c);
  options.checkpoints = c.checkpoints;
  return complete_implicit(std::move(input.train.entries), options);
}

/// But for what all kinds have in common.
StructuredOptions structured_options(const CompleteCommand& c, const CompletionInput& input) {
  StructuredOptions options = c.preset.empty() ? StructuredOptions{} : completion_preset(c.preset);
  options.symmetric = !c.symmetric.empty();
  const auto set_over = [](const std::string& spec, const IdTable& ids) {
    const auto set = set_before_data(spec);
    return set ? *set : parse_atoms_by_name(spec, ids.names());
  };
  if (options.symmetric) options.left = options.right = set_over(c.symmetric, input.train.rows);
  if (!c.left.empty()) options.left = set_over(c.left, input.train.rows);
  if (!c.right.empty()) options.right = set_over(c.right, input.train.cols);
  options.weights = parse_weight_rule(c.weights);
  const bool by_itself = c.regularize == "chosen" || c.regularize == "auto";
  options.regularization = parse_regularization(by_itself && (!c.preset.empty() || options.symmetric) ? "none"
                                                : by_itself                                           ? "auto"
                                                            : c.regularize);
  options.offsets = c.offsets;
  options.loss = parse_loss(c.loss);
  options.entry_weights = input.weights;
  const bool plain = options.loss.kind == Loss::squares && input.weights.empty();
  options.choose = plain && c.preset.empty() && !options.symmetric && c.regularize == "chosen" &&
                   c.corrections.empty() && !c.offsets && !c.no_offsets;
  if (!c.corrections.empty())
    options.corrections = c.corrections;
  else if (options.exact_corrections && !options.symmetric &&
           (!plain || options.regularization.kind == Regularization::none))
    options.polish = c.max_sweeps;
  options.polish_tolerance = c.tolerance;
  options.range = parse_range(c.clip);
  const ObservedEntries& entries = input.train.entries;
  if (c.preset.empty()) options.max_rank = usual_rank(options, entries.rows, entries.cols);
  return options;
}

CompletionResult compute_structured(const CompleteCommand& c, CompletionInput& input) {
  StructuredOptions options = structured_options(c, input);
  set_common(options, c, input);
  options.checkpoints = c.checkpoints;
  return complete_structured(std::move(input.train.entries), options);
}

/// What several processes share is squares, each entry counting once where there are atom sets.
void tell_of_sharing(const CompleteCommand& c) {
  const bool weighted = !c.entry_weights.empty() || !c.weight_column.empty() || !c.confidence.empty();
  tell_if_alone(structured(c) && (c.loss != "squares" || weighted),
                "complete with atom sets under a loss, or with weights of entries, does");
}

/// Draws that are averaged over.
int draws_of(const CompleteCommand& c, const CompletionInput& input) {
  if (c.samples >= 0) return c.samples;
  const bool high = c.effort == "high" || (input.earlier && !input.earlier->model.samples.empty());
  return high ? draws_for_high_effort(input.entries()) : 0;
}

Job job_of(const CompleteCommand& c, const CompletionInput& input) {
  const Index most = c.implicit      ? most_atoms({.sets = implicit_sets(c)})
                     : structured(c) ? structured_options(c, input).max_rank
                                     : CompletionOptions{}.max_rank;
  const ObservedEntries& entries = input.train.entries;
  return {.shape = {entries.rows, entries.cols},
          .entries = input.entries(),
          .rank = c.rank >= 0 ? c.rank : most,
          .draws = c.implicit || structured(c) ? 0 : draws_of(c, input),
          .writes = !c.out.empty()};
}

/// Takes the entries, which may be large; they come back with the result.
CompletionResult compute(const CompleteCommand& c, CompletionInput& input) {
  if (c.implicit) return compute_implicit(c, input);
  if (structured(c)) return compute_structured(c, input);
  CompletionOptions options;
  set_common(options, c, input);
  set_knowledge(options, input);
  options.loss = parse_loss(c.loss);
  options.entry_weights = input.weights;
  options.use_pattern = !c.no_pattern;
  options.checkpoints = c.checkpoints;
  options.samples = draws_of(c, input);
  options.range = parse_range(c.clip);
  if (input.apart) return complete_ranked(std::move(*input.apart), options);
  if (has_times(c))
    return complete_in_time(std::move(input.train.entries), input.times, options, input.test_times);
  return complete(std::move(input.train.entries), options);
}

/// Which offsets drift, for people and as fields.
Json describe_drift(const Drift& drift) {
  Json object = Json::object();
  std::string parts;
  for (const auto& [name, part] :
       {std::pair("rows", &drift.rows), {"columns", &drift.cols}, {"all", &drift.all}}) {
    object.set(name, part->is_on() ? Json{{"reach", part->reach}, {"ridge", part->ridge}} : Json());
    if (part->is_on())
      parts += fmt::format("{} of {} within {:.3g}", parts.empty() ? "" : ",", name, part->reach);
  }
  if (drift.is_on()) object.set("newest", drift.newest);
  if (drift.is_on())
    tell("offsets drift:{}, in units of the times\n", parts);
  else
    tell("no offsets drift: the last entries, held back, were not predicted better by it\n");
  return object;
}

void write_path_plot(const std::string& path, const std::vector<CompletionStage>& stages,
                     const CompletionModel& model) {
  std::vector<double> ranks, errors;
  for (const CompletionStage& stage : stages)
    if (std::isfinite(stage.validation)) {
      ranks.push_back(double(stage.rank));
      errors.push_back(stage.validation);
    }
  const auto vector = [](const std::vector<double>& v) {
    return Vector(Eigen::Map<const Vector>(v.data(), Index(v.size())));
  };
  write_file_atomically(
      path, svg_line_plot({{fmt::format("validation {}", error_name(model)), vector(ranks), vector(errors)}},
                          {"Validation error by rank", "rank", error_name(model)}));
}

/// What is said about matrices alone is refused, not passed over.
CompleteTensorCommand array_completion_of(const CompleteCommand& c) {
  for (const auto& [option, given] : std::initializer_list<std::pair<const char*, bool>>{
           {"--left", !c.left.empty()},
           {"--right", !c.right.empty()},
           {"--symmetric", !c.symmetric.empty()},
           {"--preset", !c.preset.empty()},
           {"--effort high", c.effort == "high"},
           {"--samples", c.samples >= 0},
           {"--no-pattern", c.no_pattern},
           {"--row-features", !c.row_features.empty()},
           {"--col-features", !c.col_features.empty()},
           {"--clip", c.clip != "auto"},
           {"--duplicates", !c.duplicates.empty() && c.duplicates != "refuse"},
           {"--columns", !c.columns.empty()},
           {"--update", !c.update.empty()},
           {"--no-store-entries", c.no_store_entries}})
    if (given)
      throw InvalidArgument(fmt::format(
          "{}: for matrices; an array of more modes has a set for each of them, --modes", option));
  if (!c.test.empty() && c.holdout > 0) throw InvalidArgument("--test and --holdout: choose one");
  if (!(c.holdout >= 0 && c.holdout < 1))
    throw InvalidArgument(fmt::format("--holdout {}: must be at least 0 and below 1", c.holdout));
  if (c.corrections.size() > 1) throw InvalidArgument("--corrections: one number of sweeps for an array");
  if (c.rank == 0) throw InvalidArgument("--rank 0: at least one atom is needed");
  CompleteTensorCommand result;
  result.common = c.common;
  result.input = c.input;
  result.modes = c.modes;
  result.symmetric_modes = c.symmetric_modes;
  result.weights = c.weights;
  result.loss = c.loss;
  if (c.regularize != "chosen") result.regularize = c.regularize;
  result.entry_weights = c.entry_weights;
  result.test = c.test;
  result.out = c.out;
  result.plot = c.plot;
  result.holdout = c.holdout;
  result.options.rank = std::max<Index>(c.rank, 0);
  result.options.offsets = c.offsets;
  if (!c.corrections.empty()) result.options.corrections = c.corrections[0];
  result.options.polish = c.max_sweeps;
  result.options.polish_tolerance = c.tolerance;
  result.options.validation = c.validation;
  result.options.seed = c.seed;
  result.options.time_limit = c.time_limit;
  result.options.checkpoints = c.checkpoints;
  return result;
}

int complete_by(const CompleteCommand& c) {
  if (!c.modes.empty() || is_tensor_file(c.input)) {
    tell_if_alone(true, "completion of arrays does");
    return run_complete_tensor(array_completion_of(c));
  }
  if (!c.symmetric_modes.empty())
    throw InvalidArgument("--symmetric-modes: for arrays of three and more modes; see --symmetric");
  check(c);
  tell_of_sharing(c);
  parse_range(c.clip);
  parse_weight_rule(c.weights);
  if (c.regularize != "chosen") parse_regularization(c.regularize);
  parse_loss(c.loss);
  if (!c.confidence.empty()) parse_confidence(c.confidence);
  for (const auto& spec : {c.left, c.right, c.symmetric})
    if (!spec.empty()) set_before_data(spec);
  prepare_outputs({c.out, c.plot}, {c.input, c.test, c.row_features, c.col_features, c.entry_weights});
  const Timer timer;
  CompletionInput input = read_completion_input(c);
  const double reading = timer.seconds();
  const int threads = threads_used(c.common.threads);
  tell_of_ranks(c.input, threads, rank_count(), false);
  if (rank_count() > 1 && c.input.ends_with(".gz"))
    tell(
        "pursuit: note: {} is packed, and each packed file is read by one rank; plain text is read by all "
        "ranks at once\n",
        c.input);
  const auto warn_of_clicks = [&] {
    tell(
        "pursuit: warning: every value is 1: this is implicit feedback (clicks, purchases), of which what is "
        "not there should count as a weak no: use --implicit; taken as ratings it says that everybody likes "
        "all\n");
  };
  const auto& values = input.train.entries.value;
  if (!c.implicit && !input.earlier && values.size() > 1 &&
      std::all_of(values.begin(), values.end(), [](float v) { return v == 1; }))
    warn_of_clicks();
  if (input.unknown > 0)
    tell("pursuit: note: {} of {} test entries have a row or column without training entries\n",
         input.unknown, input.test.size());
  for (const auto& [file, side] :
       {std::pair(&input.row_features, "row"), std::pair(&input.col_features, "column")})
    if (*file) print_features(**file, side);
  const Job job = job_of(c, input);
  CompletionResult result = compute(c, input);
  if (c.common.dry_run) return tell_forecast(c.common, job);
  if (result.seen_by_ranks && job.entries > 1 && result.observed.lowest == 1 && result.observed.highest == 1)
    warn_of_clicks();
  if (const Index overlap = result.seen_by_ranks ? result.known : count_seen(result.seen, input.test);
      overlap > 0)
    tell("pursuit: warning: {} of {} test entries are training entries too: the test error looks too good\n",
         overlap, input.test.size());
  if (!c.plot.empty()) write_path_plot(c.plot, result.path, result.model);
  const Loss loss = result.model.loss;
  print_stages(result.path, result.model);
  Json object{{"loss", loss.spec()},
              {"rank", result.model.rank()},
              {"noise", number_or_null(result.model.noise())},
              {"rows", result.model.row_count()},
              {"columns", result.model.column_count()},
              {"samples", result.model.samples.size()},
              {"stop", name(result.stop)},
              {"converged", result.stop != Stop::not_converged && !result.interrupted()},
              {"interrupted", result.interrupted()},
              {"path", describe(result.path, result.model)},
              {"reading_seconds", reading},
              {"seconds", result.seconds},
              {"peak_memory_bytes", peak_memory_bytes()}};
  if (input.row_features) object.set("row_features", describe(*input.row_features));
  if (input.col_features) object.set("column_features", describe(*input.col_features));
  if (input.test.size() > 0) {
    Json test = c.implicit ? judge_lists(result.model, result.seen, input.test, c.common.threads)
                           : judge(result.model, positions_of(input.test), result.predictions,
                                   input.test.value, c.common.threads);
    test.set("unknown", input.unknown);
    object.set("test", test);
  }
  describe_ranks(threads, object);
  if (c.implicit)
    object.set("implicit", {{"zeros", result.model.implicit.zeros},
                            {"ridge", result.model.implicit.ridge},
                            {"confidence", result.model.implicit.confidence.spec()}});
  std::string noise;
  if (c.implicit)
    noise = fmt::format(", zeros of weight {:.3g}, ridge {:.2g}", result.model.implicit.zeros,
                        result.model.implicit.ridge);
  else if (std::isfinite(result.model.noise()))
    noise = fmt::format(", noise {:.4g}", result.model.noise());
  tell("\n{} atoms beside offsets{}, in {:.2f} s: {}\n", result.model.rank(), noise, result.seconds,
       explanation(result.stop));
  if (has_times(c)) object.set("drift", describe_drift(result.model.drift));
  if (!c.out.empty()) {
    CompletionFile file{
        std::move(result.model),
        std::move(input.train.rows),
        std::move(input.train.cols),
        std::move(result.seen),
        {{"command", command_line()}, {"seed", fmt::format("{}", c.seed)}, {"stop", name(result.stop)}}};
    if (input.earlier) file.held_out = std::move(input.earlier->held_out);
    if (c.holdout > 0) file.held_out = with_held_out(file.held_out, std::move(input.test));
    file.held_out.start.resize(std::size_t(file.rows.size()) + 1, std::int64_t(file.held_out.index.size()));
    file.row_features = std::move(input.row_features);
    file.col_features = std::move(input.col_features);
    file.keeps_entries = !c.no_store_entries;
    if (result.seen_by_ranks)
      save_completion(c.out, file, *result.seen_by_ranks, *rank_team());
    else
      save_completion(c.out, file);
    tell("model written to {}\n", c.out);
  }
  if (c.common.json) print_json(object);
  return result.interrupted() && was_interrupted() ? interrupted : success;
}

int run(CompleteCommand c) {
  if (has_times(c)) refuse_checkpoints(c.checkpoint, "completion with offsets that drift");
  c.checkpoints = checkpoints_of(
      c.checkpoint, {c.out, c.plot},
      {c.input, c.test, c.row_features, c.col_features, c.entry_weights, c.update == c.out ? "" : c.update});
  const int status = complete_by(c);
  if (status == interrupted) tell_how_to_resume(c.checkpoint);
  return status;
}

}  // namespace

void add_complete(Command& program) {
  auto c = std::make_shared<CompleteCommand>();
  Command sub = program.add_command("complete", "Predict the entries of a matrix that were not observed");
  add_options(sub, *c);
  sub.runs([c] { return run(*c); });
}

}  // namespace pursuit::app
