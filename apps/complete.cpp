#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "apps/complete_tensor.hpp"
#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/ranking.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/io/tensor_file.hpp"
#include "pursuit/report/svg.hpp"

namespace pursuit::app {
namespace {

struct CompleteCommand {
  CommonOptions common;
  std::string input, test, preset, left, right, symmetric, weights = "free", regularize = "chosen",
                                                           effort = "default";
  std::string loss = "squares", entry_weights, weight_column, modes, symmetric_modes;
  std::string row_features, col_features, clip = "auto", duplicates = "refuse", update, out, plot;
  double holdout = 0, validation = 0.1, time_limit = std::numeric_limits<double>::infinity();
  Index rank = -1;
  int samples = -1;
  std::vector<int> corrections;
  std::vector<std::string> columns;
  int max_sweeps = 500;
  double tolerance = StructuredOptions().polish_tolerance;
  bool no_pattern = false, offsets = false, no_offsets = false, no_store_entries = false, implicit = false;
  std::string confidence;
  std::uint64_t seed = 0;
};

constexpr const char* kCompleteExamples =
    R"(What RATINGS does not hold is unknown, never zero. It may be MovieLens u.data, ratings.dat or ratings.csv, lines of
row, column and value, MatrixMarket, SciPy .npz (stored is observed) or .npy (NaN is unknown); ids may be any text.

Without options nothing needs tuning: offsets, rank, noise and all variances are estimated from the data.

Examples:
  pursuit complete ratings.dat --out model.npz
  pursuit complete ratings.csv --holdout 0.1 --effort high --json
  pursuit complete u1.base --test u1.test
  pursuit complete ratings.csv --row-features users.csv --col-features genres.csv --out model.npz
  pursuit complete new.csv --update model.npz --out newer.npz
  pursuit complete clicks.csv --implicit --out model.npz
  pursuit complete plays.csv --implicit --confidence log:10:1 --holdout 0.1
  pursuit complete answers.csv --loss bernoulli --holdout 0.1 --out model.npz
  pursuit complete counts.csv --left nonneg --right nonneg+sparse:0.2 --out parts.npz
  pursuit complete stars.csv --left sphere --right sphere --offsets --loss ordinal --holdout 0.1
  pursuit complete ratings.dat --preset gmpr --rank 20
  pursuit complete T.npy --modes nonneg,nonneg,nonneg --weights nonneg --holdout 0.1 --out model.npz
  pursuit complete trips.csv --modes nonneg,nonneg,nonneg --weights nonneg --out model.npz
  pursuit predict model.npz pairs.csv
  pursuit recommend model.npz --row 42 --top 10)";

bool structured(const CompleteCommand& c) {
  return !c.preset.empty() || !c.left.empty() || !c.right.empty() || !c.symmetric.empty() ||
         (c.regularize != "chosen" && c.regularize != "auto");
}

/// Options that make no sense together, refused before anything is read.
void check(const CompleteCommand& c) {
  const auto refuse = [](const std::string& what) { throw InvalidArgument(what); };
  if (!c.test.empty() && c.holdout > 0) refuse("--test and --holdout: choose one");
  if (!c.entry_weights.empty() && !c.weight_column.empty())
    refuse("--entry-weights and --weight-column: choose one");
  if (!c.weight_column.empty() && !c.update.empty())
    refuse(
        "--weight-column: the entries of the model that is updated have none; give all of them with "
        "--entry-weights");
  if (!(c.holdout >= 0 && c.holdout < 1))
    refuse(fmt::format("--holdout {}: must be at least 0 and below 1", c.holdout));
  if (!c.implicit && !c.confidence.empty())
    refuse("--confidence: how much entries of implicit feedback count; it goes with --implicit");
  if (c.implicit && (structured(c) || c.loss != "squares" || !c.entry_weights.empty()))
    refuse(
        "--implicit: what was not seen counts as a weak zero of squares; it does not go with atom sets, "
        "presets, "
        "--regularize, --loss or --entry-weights (--confidence gives weights)");
  if (c.implicit && (c.effort == "high" || c.samples >= 0 || c.no_pattern || c.clip != "auto"))
    refuse(
        "--implicit: its model has no draws, no pattern beside the entries and no range; leave out --effort "
        "high, "
        "--samples, --no-pattern and --clip");
  if (c.implicit && !(c.row_features.empty() && c.col_features.empty()))
    refuse("--implicit: features do not go with it yet; leave out --row-features and --col-features");
  if (!c.confidence.empty() && !c.update.empty())
    refuse("--confidence: a model that is updated keeps the one it was made with");
  if (!c.preset.empty() && !(c.left.empty() && c.right.empty() && c.symmetric.empty()))
    refuse("--preset has its own atom sets: leave out --left, --right and --symmetric");
  if (!c.symmetric.empty() && !(c.left.empty() && c.right.empty()))
    refuse("--symmetric SPEC stands for both sides: leave out --left and --right");
  if (c.offsets && c.no_offsets) refuse("--offsets and --no-offsets: choose one");
  if (!structured(c)) {
    if (c.offsets || c.no_offsets)
      refuse(
          fmt::format("{}: the self-tuned model has offsets anyway; the option is for atom sets and presets",
                      c.offsets ? "--offsets" : "--no-offsets"));
    if (!c.corrections.empty())
      refuse("--corrections is for atom sets and presets (--left, --right, --preset)");
    return;
  }
  if (c.effort == "high" || c.samples >= 0)
    refuse(
        "--effort high and --samples average the self-tuned model; they do not go with atom sets, presets or "
        "--regularize");
  if (!c.row_features.empty() || !c.col_features.empty())
    refuse(
        "--row-features and --col-features inform the self-tuned model; they do not go with atom sets, "
        "presets or --regularize");
  if (!c.update.empty())
    refuse("--update continues a self-tuned model; it does not go with atom sets, presets or --regularize");
}

struct Input {
  Ratings train;
  ObservedEntries test;
  Index unknown = 0,
        overlap = 0;  // test entries with an id never seen in training; that are training entries
  std::optional<CompletionFile> earlier;
  std::optional<FeatureFile> row_features, col_features;
  std::vector<float> weights;  // of the training entries; none where all count once
};

/// One list of ids for rows and columns, for a symmetric matrix.
Ratings with_common_ids(Ratings ratings) {
  std::vector<int> place;
  place.reserve(std::size_t(ratings.cols.size()));
  for (int j = 0; j < ratings.cols.size(); ++j) place.push_back(ratings.rows.add(ratings.cols.name(j)));
  for (int& j : ratings.entries.col) j = place[std::size_t(j)];
  ratings.cols = ratings.rows;
  ratings.entries.rows = ratings.entries.cols = ratings.rows.size();
  return ratings;
}

/// How often entries count, from a file with a weight for every one of them, or a column of RATINGS.
std::vector<float> read_entry_weights(const CompleteCommand& c, RatingsOptions options, Ratings& train) {
  const bool own = !c.weight_column.empty();
  const std::string& path = own ? c.input : c.entry_weights;
  if (own) {
    options.columns.resize(2);  // empty: as they are found for the values
    options.columns.push_back(c.weight_column);
  } else {
    options = {RatingsOptions::Duplicates::refuse, c.common.threads};
  }
  const int rows = train.rows.size(), cols = train.cols.size();
  const ObservedEntries weights = read_ratings(path, options, &train.rows, &train.cols).entries;
  const auto refuse = [&](Index e, int row, int col, const char* what) {
    throw InvalidInput(fmt::format("--entry-weights {}: row {}, column {} {} ({} weights for {} entries)",
                                   path, train.rows.name(row), train.cols.name(col), what, e,
                                   train.entries.size()));
  };
  std::unordered_map<std::uint64_t, float> found;
  const auto key = [](int i, int j) { return std::uint64_t(i) << 32 | std::uint32_t(j); };
  for (std::size_t e = 0; e < weights.row.size(); ++e) {
    if (weights.row[e] >= rows || weights.col[e] >= cols)
      refuse(weights.size(), weights.row[e], weights.col[e], "has a weight and no entry");
    found[key(weights.row[e], weights.col[e])] = weights.value[e];
  }
  std::vector<float> result;
  for (std::size_t e = 0; e < train.entries.row.size(); ++e) {
    const auto weight = found.find(key(train.entries.row[e], train.entries.col[e]));
    if (weight == found.end())
      refuse(weights.size(), train.entries.row[e], train.entries.col[e], "has an entry and no weight");
    result.push_back(weight->second);
    found.erase(weight);
  }
  if (!found.empty()) {
    const std::uint64_t extra = found.begin()->first;
    refuse(weights.size(), int(extra >> 32), int(extra & 0xffffffffU), "has a weight and no entry");
  }
  return result;
}

Input read_input(const CompleteCommand& c) {
  Input input;
  const RatingsOptions options{
      c.duplicates == "last" ? RatingsOptions::Duplicates::last : RatingsOptions::Duplicates::refuse,
      c.common.threads, c.columns};
  if (!c.update.empty()) {
    input.earlier = load_completion(c.update);
    if (input.earlier->model.is_implicit() != c.implicit)
      throw InvalidInput(
          c.implicit ? fmt::format("--implicit: {} is not a model of implicit feedback", c.update)
                     : fmt::format("{}: a model of implicit feedback; say --implicit for new entries as well",
                                   c.update));
    if (input.earlier->model.atoms.rank() > 0)
      throw InvalidInput(
          fmt::format("{}: made of structured atoms; only self-tuned models can be updated", c.update));
    if (!input.earlier->keeps_entries)
      throw InvalidInput(fmt::format(
          "{}: written with --no-store-entries; without the entries it was made from it cannot be updated",
          c.update));
    input.train = read_ratings(c.input, options, &input.earlier->rows, &input.earlier->cols);
    input.train.entries = merged(input.earlier->seen, std::move(input.train.entries));
  } else {
    input.train = read_ratings(c.input, options);
    if (!c.symmetric.empty()) input.train = with_common_ids(std::move(input.train));
  }
  ObservedEntries& entries = input.train.entries;
  if (!c.entry_weights.empty() || !c.weight_column.empty())
    input.weights = read_entry_weights(c, options, input.train);
  if (input.earlier) {
    input.row_features = std::move(input.earlier->row_features);
    input.col_features = std::move(input.earlier->col_features);
  }
  const auto read_side = [](const std::string& path, IdTable& members, std::optional<FeatureFile>& known) {
    if (path.empty()) return;
    FeatureFile fresh = read_features(path, members);
    known = known ? merged(*known, fresh) : std::move(fresh);
  };
  read_side(c.row_features, input.train.rows, input.row_features);
  read_side(c.col_features, input.train.cols, input.col_features);
  if (input.earlier)
    for (const auto& [side, weights, features] :
         {std::tuple("row", &input.earlier->model.rows.features, &input.row_features),
          {"col", &input.earlier->model.cols.features, &input.col_features}})
      if (weights->size() > 0 && !*features)
        throw InvalidInput(
            fmt::format("{}: made with features that it does not hold; give them again with --{}-features",
                        c.update, side));
  entries.rows = input.train.rows.size();
  entries.cols = input.train.cols.size();
  const Loss loss = parse_loss(c.loss);
  if (c.holdout > 0) {
    const Index count = std::llround(c.holdout * double(entries.size()));
    if (count < 1 || count >= entries.size())
      throw InvalidInput(fmt::format("--holdout {}: leaves {} of {} entries to train on and {} to test",
                                     c.holdout, entries.size() - count, entries.size(), count));
    const std::vector<Index> sizes{entries.size() - count, count};
    if (!input.weights.empty()) {  // parts depend on positions alone
      auto parts =
          split({entries.rows, entries.cols, entries.row, entries.col, input.weights}, sizes, c.seed);
      input.weights = std::move(parts[0].value);
    }
    auto parts = split(std::move(entries), sizes, c.seed);
    entries = std::move(parts[0]);
    input.test = std::move(parts[1]);
  } else if (!c.test.empty()) {
    const int rows = input.train.rows.size(), cols = input.train.cols.size();
    input.test = read_ratings(c.test, options, &input.train.rows, &input.train.cols).entries;
    for (std::size_t e = 0; e < input.test.row.size(); ++e)
      if (const float value = input.test.value[e]; !loss.accepts(value))
        throw InvalidInput(fmt::format("{}: test entry {} is {}; loss {} takes {}", c.test, e + 1, value,
                                       loss.spec(), loss.domain()));
    for (std::size_t e = 0; e < input.test.row.size(); ++e) {
      int &i = input.test.row[e], &j = input.test.col[e];
      if (i >= rows) i = -1;
      if (j >= cols) j = -1;
      input.unknown += i < 0 || j < 0;
    }
  }
  return input;
}

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

CompletionResult compute_implicit(const CompleteCommand& c, Input& input) {
  ImplicitOptions options;
  if (!c.confidence.empty()) options.confidence = parse_confidence(c.confidence);
  if (c.rank >= 0) options.max_rank = c.rank;
  options.validation = c.validation;
  options.predict = positions_of(input.test);
  if (input.earlier) {
    options.start = &input.earlier->model;
    options.start_entries = &input.earlier->seen;
  }
  options.seed = c.seed;
  options.threads = c.common.threads;
  options.time_limit = c.time_limit;
  options.observer = watch("complete");
  options.interrupted = was_interrupted;
  return complete_implicit(std::move(input.train.entries), options);
}

/// Takes the entries, which may be large; they come back with the result.
CompletionResult compute(const CompleteCommand& c, Input& input) {
  if (c.implicit) return compute_implicit(c, input);
  const auto range = parse_range(c.clip);
  if (structured(c)) {
    StructuredOptions options = c.preset.empty() ? StructuredOptions{} : completion_preset(c.preset);
    options.symmetric = !c.symmetric.empty();
    if (options.symmetric) options.left = options.right = parse_atoms(c.symmetric);
    if (!c.left.empty()) options.left = parse_atoms(c.left);
    if (!c.right.empty()) options.right = parse_atoms(c.right);
    options.weights = parse_weight_rule(c.weights);
    const bool by_itself = c.regularize == "chosen" || c.regularize == "auto";
    options.regularization =
        parse_regularization(by_itself && (!c.preset.empty() || options.symmetric) ? "none"
                             : by_itself                                           ? "auto"
                                                                                   : c.regularize);
    options.offsets = c.offsets;
    options.loss = parse_loss(c.loss);
    options.entry_weights = input.weights;
    const bool plain = options.loss.kind == Loss::squares && input.weights.empty();
    options.choose = plain && c.preset.empty() && !options.symmetric && c.regularize == "chosen" &&
                     c.corrections.empty() && !c.offsets && !c.no_offsets;
    if (c.rank >= 0) options.max_rank = c.rank;
    if (!c.corrections.empty())
      options.corrections = c.corrections;
    else if (options.exact_corrections && !options.symmetric &&
             (!plain || options.regularization.kind == Regularization::none))
      options.polish = c.max_sweeps;
    options.polish_tolerance = c.tolerance;
    options.validation = c.validation;
    options.range = range;
    options.predict = positions_of(input.test);
    options.seed = c.seed;
    options.threads = c.common.threads;
    options.time_limit = c.time_limit;
    options.observer = watch("complete");
    return complete_structured(std::move(input.train.entries), options);
  }
  CompletionOptions options;
  options.loss = parse_loss(c.loss);
  options.entry_weights = input.weights;
  if (c.rank >= 0) options.max_rank = c.rank;
  options.use_pattern = !c.no_pattern;
  options.validation = c.validation;
  const bool high = c.effort == "high" || (input.earlier && !input.earlier->model.samples.empty());
  options.samples = c.samples >= 0 ? c.samples : high ? draws_for_high_effort(input.train.entries.size()) : 0;
  options.range = range;
  if (input.row_features) options.row_features = &input.row_features->table;
  if (input.col_features) options.col_features = &input.col_features->table;
  options.predict = positions_of(input.test);
  if (input.earlier) {
    options.start = &input.earlier->model;
    options.start_entries = &input.earlier->seen;
  }
  options.seed = c.seed;
  options.threads = c.common.threads;
  options.time_limit = c.time_limit;
  options.observer = watch("complete");
  options.interrupted = was_interrupted;
  return complete(std::move(input.train.entries), options);
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
  for (const auto& [option, given] :
       std::initializer_list<std::pair<const char*, bool>>{{"--left", !c.left.empty()},
                                                           {"--right", !c.right.empty()},
                                                           {"--symmetric", !c.symmetric.empty()},
                                                           {"--preset", !c.preset.empty()},
                                                           {"--effort high", c.effort == "high"},
                                                           {"--samples", c.samples >= 0},
                                                           {"--no-pattern", c.no_pattern},
                                                           {"--row-features", !c.row_features.empty()},
                                                           {"--col-features", !c.col_features.empty()},
                                                           {"--clip", c.clip != "auto"},
                                                           {"--duplicates last", c.duplicates == "last"},
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
  return result;
}

int run(const CompleteCommand& c) {
  if (!c.modes.empty() || is_tensor_file(c.input)) return run_complete_tensor(array_completion_of(c));
  if (!c.symmetric_modes.empty())
    throw InvalidArgument("--symmetric-modes: for arrays of three and more modes; see --symmetric");
  check(c);
  parse_range(c.clip);
  parse_weight_rule(c.weights);
  if (c.regularize != "chosen") parse_regularization(c.regularize);
  parse_loss(c.loss);
  if (!c.confidence.empty()) parse_confidence(c.confidence);
  for (const auto& spec : {c.left, c.right, c.symmetric})
    if (!spec.empty()) parse_atoms(spec);
  prepare_outputs({c.out, c.plot}, {c.input, c.test, c.row_features, c.col_features, c.entry_weights});
  const Timer timer;
  Input input = read_input(c);
  const double reading = timer.seconds();
  const auto& values = input.train.entries.value;
  if (!c.implicit && !input.earlier && values.size() > 1 &&
      std::all_of(values.begin(), values.end(), [](float v) { return v == 1; }))
    tell(
        "pursuit: warning: every value is 1: this is implicit feedback (clicks, purchases), of which what is "
        "not there should count as a weak no: use --implicit; taken as ratings it says that everybody likes "
        "all\n");
  if (input.unknown > 0)
    tell("pursuit: note: {} of {} test entries have a row or column without training entries\n",
         input.unknown, input.test.size());
  for (const auto& [file, side] :
       {std::pair(&input.row_features, "row"), std::pair(&input.col_features, "column")})
    if (*file) print_features(**file, side);
  CompletionResult result = compute(c, input);
  if (const Index overlap = count_seen(result.seen, input.test); overlap > 0)
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
    save_completion(c.out, file);
    tell("model written to {}\n", c.out);
  }
  if (c.common.json) print_json(object);
  return result.interrupted() && was_interrupted() ? interrupted : success;
}

}  // namespace

void add_complete(Command& program) {
  auto c = std::make_shared<CompleteCommand>();
  Command sub = program.add_command("complete", "Predict the entries of a matrix that were not observed");
  sub.footer(kCompleteExamples);
  sub.add_option("RATINGS", c->input, "Observed entries: row, column, value").required();
  sub.add_option("--test", c->test, "Entries to judge by, in a file of their own");
  sub.add_option("--holdout", c->holdout, "Or judge by this random share of RATINGS");
  sub.add_option(
         "--loss", c->loss,
         "What the numbers are: squares (any), or bernoulli (0 and 1; predictions are probabilities);\n"
         "with atom sets any loss of `pursuit factor --help`")
      .show_default();
  sub.add_option("--entry-weights", c->entry_weights,
                 "How often each entry counts: the entries of RATINGS with weights in the place of values");
  sub.add_option("--weight-column", c->weight_column,
                 "Or a column of RATINGS, by its name in the header or its number from 1");
  sub.add_flag(
      "--implicit", c->implicit,
      "RATINGS are clicks, purchases, plays: what is not there counts as a weak no, and how weak is\n"
      "chosen by entries held back, like all else. What is predicted is an order, best first");
  sub.add_option("--confidence", c->confidence,
                 "With --implicit: an entry counts 1 + A VALUE (linear:A) or 1 + A log(1 + VALUE / B)\n"
                 "(log:A:B); by default once, whatever its value");
  sub.add_option(
         "--effort", c->effort,
         "default, or high: average over draws from the posterior, about a minute for a\nmillion entries")
      .one_of({"default", "normal", "high"})
      .show_default();
  sub.add_option("--samples", c->samples,
                 "Number of draws to average over (high: 200 to 800, by the number of entries)")
      .between(0, kMostSamples);
  sub.add_option("-r,--rank", c->rank,
                 "At most so many atoms beside the offsets (31; with atom sets 20, presets 30); of an array\n"
                 "exactly so many, where it is not to be chosen")
      .not_negative();
  sub.add_option("--validation", c->validation,
                 "Share of the entries that decides about rank and corrections")
      .show_default();
  sub.add_flag("--no-pattern", c->no_pattern, "Do not learn from which entries were observed");
  sub.add_option("--row-features", c->row_features,
                 "What is known about rows: a table with a header and ids in its first column, or lines "
                 "of\nid, feature, value (with the header id,feature,value or none)");
  sub.add_option("--col-features", c->col_features, "The same about columns");
  sub.add_option("--clip", c->clip, "Range of predictions: LOW:HIGH, auto (as observed) or none")
      .show_default();
  sub.add_option("--duplicates", c->duplicates,
                 "Where an entry occurs twice: refuse the file, or the last one counts")
      .one_of({"refuse", "last"})
      .show_default();
  sub.add_option(
      "--update", c->update,
      "Continue this model with RATINGS as new entries, rows and columns; features and effort are\n"
      "those of the model");
  add_columns_option(sub, c->columns);
  sub.add_option("--preset", c->preset, "A column of the paper's table: or1mp, gmpr, gmpr-sparse")
      .one_of({"or1mp", "gmpr", "gmpr-sparse"});
  sub.add_option(
      "--modes", c->modes,
      "Of an array of three and more modes (.npy with NaN for what is unknown, .npz, .tns, CSV of ids\n"
      "and a value): its atom sets, one for each mode, separated by commas");
  sub.add_option("--symmetric-modes", c->symmetric_modes,
                 "With --modes: modes that share their factors, such as 0,1");
  sub.add_option("--left", c->left, "Atom set of the left factors (see `pursuit factor --help`)");
  sub.add_option("--right", c->right, "Atom set of the right factors");
  sub.add_option("--symmetric", c->symmetric,
                 "Atom set of u in atoms u u^T; rows and columns are the same ids");
  sub.add_option("--weights", c->weights, "With atom sets: free, newest, nonneg, convex[:RADIUS], economic")
      .show_default();
  sub.add_option(
         "--regularize", c->regularize,
         "With atom sets: auto (self-tuned; with a loss or weights the best of several LAMBDA), none,\n"
         "LAMBDA, LAMBDA:count (times the entries of a row), or chosen: auto with offsets or without, or a\n"
         "ridge that counts entries, whichever predicts entries held back best; with --offsets, "
         "--no-offsets,\n"
         "--corrections, a loss or weights it is auto")
      .show_default();
  sub.add_flag("--offsets", c->offsets, "With atom sets: mean, row and column offsets first");
  sub.add_flag("--no-offsets", c->no_offsets, "With atom sets: none, whatever would predict better");
  sub.add_option(
         "--corrections", c->corrections,
         "With atom sets: sweeps after every atom; of several numbers the best (3; with\n--regularize "
         "none until they settle)")
      .separated_by(',');
  sub.add_option("--tolerance", c->tolerance,
                 "With --regularize none: sweeps settle when one lowers the squared error by no more than "
                 "this\nshare")
      .show_default();
  sub.add_option("--max-sweeps", c->max_sweeps, "At most so many sweeps to settle in")
      .between(1, 1'000'000)
      .show_default();
  sub.add_option("--seed", c->seed, "Seed of everything random").show_default();
  sub.add_option("--time-limit", c->time_limit, "Stop after so many seconds and keep the result so far");
  sub.add_option("-o,--out", c->out, "Write the model here (.npz)");
  sub.add_flag(
      "--no-store-entries", c->no_store_entries,
      "Leave the entries out of the model file: smaller, and nobody's ratings are passed on;\nsuch a "
      "model cannot be updated and knows nothing of what was seen");
  sub.add_option("--plot", c->plot, "Write a picture of the validation error by rank here (.svg)");
  add_common_options(sub, c->common);
  sub.runs([c] { return run(*c); });
}

}  // namespace pursuit::app
