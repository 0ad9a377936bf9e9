// How many atoms: ranks compared on entries held out.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/console.hpp"
#include "apps/input.hpp"
#include "apps/loss_options.hpp"
#include "apps/mode_sets.hpp"
#include "apps/named_sets.hpp"
#include "apps/output.hpp"
#include "apps/rank_list.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/choose_rank.hpp"
#include "pursuit/io/observed_tensor_file.hpp"
#include "pursuit/io/tensor_file.hpp"
#include "pursuit/report/progress_bar.hpp"
#include "pursuit/report/svg.hpp"
#include "pursuit/report/terminal_plot.hpp"

namespace pursuit::app {
namespace {

struct ChooseCommand {
  CommonOptions common;
  TextInput text;
  LossInput loss;
  ChooseOptions options;
  std::string input, ranks = "1-10", left = "sphere", right = "sphere", modes, weights = "free", plot;
};

constexpr const char* kChooseExamples =
    R"(Entries are cut at random into folds; for every fold the others are factored rank by rank, and the fold is predicted.
'error' is that of entries held out with the standard error of its mean over folds, 'training' that of the entries
that were factored, 'stability' the mean cosine of atoms with those of other folds that match them best.

Examples:
  pursuit choose counts.csv --ranks 2-12 --left nonneg --right nonneg --weights nonneg
  pursuit choose counts.mtx --ranks 2-12 --left nonneg --right nonneg --weights nonneg --loss poisson
  pursuit choose spectra.npy --ranks 1,2,3,5,8 --right nonneg+smooth:0.1 --plot ranks.svg
  pursuit choose table.csv --ranks 1-8 --right sparse:20 --json
  pursuit choose fluorescence.npy --ranks 1-6 --modes nonneg,nonneg,nonneg --weights nonneg)";

Vector column(const RankChoice& choice, double RankScore::*figure) {
  Vector result(Index(choice.ranks.size()));
  for (std::size_t i = 0; i < choice.ranks.size(); ++i) result[Index(i)] = choice.ranks[i].*figure;
  return result;
}

void write_choice_plot(const std::string& path, const RankChoice& choice) {
  Vector ranks(Index(choice.ranks.size()));
  for (std::size_t i = 0; i < choice.ranks.size(); ++i) ranks[Index(i)] = double(choice.ranks[i].rank);
  const std::vector<Series> series{
      {"entries held out", ranks, column(choice, &RankScore::error), column(choice, &RankScore::deviation)},
      {"entries factored", ranks, column(choice, &RankScore::training)}};
  write_file_atomically(path, svg_line_plot(series, {fmt::format("Rank {} is recommended", choice.rank),
                                                     "rank", choice.error_name}));
}

Json describe_choice(const RankChoice& choice) {
  Json ranks = Json::array();
  for (const RankScore& each : choice.ranks)
    ranks.push_back({{"rank", each.rank},
                     {"error", each.error},
                     {"standard_error", each.deviation},
                     {"errors", each.errors},
                     {"training_error", each.training},
                     {"stability", each.stability}});
  return {{"rank", choice.rank},
          {"best", choice.best},
          {"reason", choice.reason},
          {"error", choice.error_name},
          {"ranks", ranks},
          {"interrupted", choice.interrupted},
          {"seconds", choice.seconds},
          {"peak_memory_bytes", peak_memory_bytes()}};
}

void print_choice(const RankChoice& choice) {
  say("{:>6} {:>12} {:>12} {:>12} {:>10}\n", "rank", "error", "+-", "training", "stability");
  for (const RankScore& each : choice.ranks)
    say("{:>6} {:>12.6g} {:>12.2g} {:>12.6g} {:>10.3f}{}\n", each.rank, each.error, each.deviation,
        each.training, each.stability, each.rank == choice.rank ? "  <-" : "");
  if (choice.ranks.size() > 1)
    say("\n{}", terminal_line_plot(column(choice, &RankScore::error),
                                   {choice.error_name + " of entries held out", "rank", "error"}));
  say("\nrank {}: {}.\n", choice.rank, choice.reason);
}

/// A choice, and what is said of the data in JSON.
using Chosen = std::pair<RankChoice, Json>;

Chosen choose_of_matrix(ChooseCommand& c) {
  FactorOptions& options = c.options.factor;
  const auto left = set_before_data(c.left), right = set_before_data(c.right);
  const MatrixData input = read_input_data(c.input, c.text, c.common.threads);
  options.left = set_for(left, c.left, input.row_names);
  options.right = set_for(right, c.right, input.column_names);
  read_loss_files(c.loss, *input.matrix, options);
  if (options.loss.kind == Loss::squares) tell_of_negative_entries(options, *input.matrix);
  return {choose_rank(input.matrix, c.options), describe_input(input)};
}

/// NaN is unknown; places that a file does not list are zeros, as for `factor`.
Chosen choose_of_array(ChooseCommand& c) {
  for (const auto& [option, given] :
       std::initializer_list<std::pair<const char*, bool>>{{"--left", c.left != "sphere"},
                                                           {"--right", c.right != "sphere"},
                                                           {"--entry-weights", !c.loss.entry_weights.empty()},
                                                           {"--row-weights", !c.loss.row_weights.empty()},
                                                           {"--col-weights", !c.loss.col_weights.empty()},
                                                           {"--row-scale", !c.loss.row_scale.empty()}})
    if (given)
      throw InvalidArgument(fmt::format(
          "{}: for matrices; an array of more modes has a set for each of them, --modes", option));
  const bool dense = c.input.ends_with(".npy");
  const NamedObservedTensor input =
      read_named_observed_tensor(c.input, dense ? Others::unknown : Others::zero, c.common.threads);
  const std::vector<Index>& shape = input.data.entries.shape;
  const AtomSets sets = sets_of_modes(c.modes, "", Index(shape.size()), input.names);
  Json about{{"stored", input.data.size()}};
  about.set("shape", shape);
  return {choose_rank(input.data, sets, c.options), about};
}

int run(ChooseCommand& c) {
  c.options.ranks = ranks_of(c.ranks);
  c.options.factor.threads = c.common.threads;
  c.options.factor.weights = parse_weight_rule(c.weights);
  take_loss(c.loss, c.options.factor);
  prepare_outputs({c.plot}, {c.input});
  watch_interrupts();
  ProgressBar bar("choose");
  c.options.watch = [&](double share, const std::string& what) {
    bar.update(share, what);
    return !was_interrupted();
  };
  const bool is_array = !c.modes.empty() || is_tensor_file(c.input);
  const auto [choice, about] = is_array ? choose_of_array(c) : choose_of_matrix(c);
  if (choice.ranks.empty()) {
    tell("pursuit: interrupted before the first rank was done\n");
    return interrupted;
  }
  if (!c.plot.empty()) write_choice_plot(c.plot, choice);
  if (c.common.json) {
    Json object = describe_choice(choice);
    object.set("input", about);
    print_json(object);
  } else {
    print_choice(choice);
  }
  return choice.interrupted ? interrupted : success;
}

}  // namespace

void add_choose(Command& program) {
  auto c = std::make_shared<ChooseCommand>();
  c->options.factor.polish = 100;
  c->options.factor.polish_tolerance = 1e-4;
  c->options.factor.restarts = 4;
  Command sub = program.add_command("choose", "Compare ranks on entries held out, and recommend one");
  sub.footer(kChooseExamples);
  sub.add_option(
         "INPUT", c->input,
         "Matrix: MatrixMarket (.gz), .npy, .npz (dense or SciPy sparse), CSV, TSV; array of more modes: "
         ".npy,\n.npz (dense, or coords, data and shape), .tns (.gz); with --modes, CSV of ids and a value")
      .required();
  sub.add_option("--ranks", c->ranks, "Numbers of atoms to compare: 2-10, or 1,2,5-8").show_default();
  sub.add_option("--left", c->left, "Atom set of the left factors (see `pursuit factor --help`)")
      .show_default();
  sub.add_option("--right", c->right, "Atom set of the right factors").show_default();
  sub.add_option("--modes", c->modes,
                 "Atom sets of an array of three and more modes, one SPEC for each, separated by commas");
  sub.add_option("--weights", c->weights, "free, newest, nonneg, convex[:RADIUS], economic").show_default();
  sub.add_option("--folds", c->options.folds, "Parts that the entries are cut into, each held out once")
      .between(2, 100)
      .show_default();
  add_loss_options(sub, c->loss);
  sub.add_option("--polish", c->options.factor.polish, "At most so many sweeps at every rank").show_default();
  sub.add_option("--polish-tolerance", c->options.factor.polish_tolerance,
                 "They end when one lowers the objective by less than this share")
      .show_default();
  sub.add_option("--restarts", c->options.factor.restarts, "Starts of the power method for every atom")
      .show_default();
  sub.add_option("--seed", c->options.factor.seed, "Seed of folds and starts").show_default();
  sub.add_option("--plot", c->plot, "Write a picture of the errors with their error bars here (.svg)");
  add_text_options(sub, c->text);
  add_transpose_option(sub, c->text);
  add_common_options(sub, c->common);
  sub.runs([c] { return run(*c); });
}

}  // namespace pursuit::app
