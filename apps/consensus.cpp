// Parts that many random starts agree on.

#include "pursuit/algorithms/consensus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "apps/console.hpp"
#include "apps/input.hpp"
#include "apps/output.hpp"
#include "apps/rank_list.hpp"
#include "apps/session.hpp"
#include "pursuit/algorithms/count_columns.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/model_file.hpp"
#include "pursuit/report/progress_bar.hpp"
#include "pursuit/report/svg.hpp"

namespace pursuit::app {
namespace {

struct ConsensusCommand {
  CommonOptions common;
  TextInput text;
  ConsensusOptions options;
  Index columns = 0;
  bool unit_variance = false;
  std::string input, ranks = "10", loss = "squares", out, usages, spectra, profiles, scores, plot;
};

constexpr const char* kConsensusExamples =
    R"(NMF from many random starts; all spectra are clustered, those without near neighbours left out, and the medians
of the clusters are the parts (consensus NMF). The usages of the parts are fitted once more.

Of several ranks a table is printed, and the files are those of the largest rank whose silhouette over starts is
hardly below the best. 'silhouette' says how far apart the clusters are, 'kept' which share of the spectra is in
one, 'stability' the mean cosine of spectra with their part.

Single-cell counts, cells x genes, as cNMF does it:
  pursuit consensus counts.mtx --rank 9 --seeds 50 --columns 2000 --unit-variance \
    --usages usages.csv --spectra programs.csv --profiles per_million.csv --scores markers.csv
Which rank:
  pursuit consensus counts.mtx --rank 5-12 --columns 2000 --unit-variance --plot ranks.svg --json
Words of documents, by their own loss:
  pursuit consensus words.npz --rank 20 --loss poisson --out topics.npz)";

std::vector<std::string> part_names(Index count) {
  std::vector<std::string> names;
  names.reserve(std::size_t(count));
  for (Index k = 1; k <= count; ++k) names.push_back(fmt::format("part_{}", k));
  return names;
}

/// The names of the largest entries.
std::vector<std::string> largest(const Vector& values, const std::vector<std::string>& names, Index count) {
  std::vector<Index> order(std::size_t(values.size()), 0);
  std::iota(order.begin(), order.end(), Index{0});
  count = std::min(count, values.size());
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](Index a, Index b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  std::vector<std::string> result;
  result.reserve(std::size_t(count));
  for (Index k = 0; k < count && values[order[std::size_t(k)]] > 0; ++k) {
    const Index at = order[std::size_t(k)];
    result.push_back(names.empty() ? fmt::format("column {}", at + 1) : names[std::size_t(at)]);
  }
  return result;
}

/// The data as they are factored.
struct ConsensusInput {
  MatrixData all;
  DataMatrixPtr data;
  Vector deviations = Vector(0);
  std::vector<std::string> column_names;
};

ConsensusInput read_columns(const ConsensusCommand& c) {
  ConsensusInput input{read_input_data(c.input, c.text, c.common.threads), nullptr, Vector(0), {}};
  input.data = input.all.matrix;
  input.column_names = input.all.column_names;
  if (c.columns == 0 && !c.unit_variance) return input;
  ColumnChoice choice{{}, c.unit_variance};
  if (c.columns > 0) {
    choice.columns = most_variable_columns(*input.all.matrix, c.columns);
    if (!input.all.column_names.empty()) {
      input.column_names.clear();
      for (const Index j : choice.columns)
        input.column_names.push_back(input.all.column_names[std::size_t(j)]);
    } else {  // a place among the chosen says nothing
      for (const Index j : choice.columns) input.column_names.push_back(fmt::format("column {}", j + 1));
    }
  }
  ChosenColumns chosen = chosen_columns(*input.all.matrix, choice, input.all.column_names, c.common.threads);
  input.data = std::move(chosen.data);
  input.deviations = std::move(chosen.deviations);
  return input;
}

void write_consensus(const ConsensusCommand& c, const ConsensusInput& input, const Consensus& result) {
  const auto parts = part_names(result.model.rank());
  const Matrix usages = result.usages();
  if (!c.usages.empty()) write_matrix(c.usages, {usages, input.all.row_names, parts});
  if (!c.spectra.empty()) {
    Matrix spectra = result.model.right();
    for (auto column : spectra.colwise()) column /= column.sum();
    write_matrix(c.spectra, {std::move(spectra), input.column_names, parts});
  }
  if (!c.profiles.empty() || !c.scores.empty()) {
    const ColumnProfiles profiles = column_profiles(*input.all.matrix, usages, c.common.threads);
    if (!c.profiles.empty()) write_matrix(c.profiles, {profiles.per_million, input.all.column_names, parts});
    if (!c.scores.empty()) write_matrix(c.scores, {profiles.scores, input.all.column_names, parts});
  }
  if (c.out.empty()) return;
  ModelFile file{result.model,
                 {},
                 input.all.row_names,
                 input.column_names,
                 {{"command", command_line()},
                  {"left", "nonneg"},
                  {"right", "nonneg"},
                  {"weights", "nonneg"},
                  {"seed", fmt::format("{}", c.options.seed)},
                  {"stop", result.interrupted ? "interrupted" : "rank_reached"},
                  {"silhouette", fmt::format("{}", result.silhouette)},
                  {"relative_error", fmt::format("{}", result.relative_error)}}};
  file.column_deviations = input.deviations;
  if (c.options.loss.kind != Loss::squares) {
    const double share = result.null_objective > 0 ? 1 - result.objective / result.null_objective : 1;
    file.metadata["deviance_explained"] = fmt::format("{}", share);
    file.loss = c.options.loss;
  }
  save_model(c.out, file);
}

void write_consensus_plot(const std::string& path, const ConsensusChoice& choice) {
  const auto count = Index(choice.ranks.size());
  Vector ranks(count), silhouettes(count), errors(count);
  for (Index k = 0; k < count; ++k) {
    const Consensus& each = choice.ranks[std::size_t(k)];
    ranks[k] = double(each.model.rank());
    silhouettes[k] = each.silhouette;
    errors[k] = each.relative_error;
  }
  write_file_atomically(path,
                        svg_line_plot({{"silhouette", ranks, silhouettes}, {"relative error", ranks, errors}},
                                      {fmt::format("Consensus by rank: {} is recommended",
                                                   choice.ranks[choice.chosen].model.rank()),
                                       "rank", "silhouette, error"}));
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

Json describe_consensus(const ConsensusChoice& choice, const ConsensusInput& input) {
  Json ranks = Json::array();
  for (const Consensus& each : choice.ranks)
    ranks.push_back({{"rank", each.model.rank()},
                     {"silhouette", each.silhouette},
                     {"stability", mean_of(each.stability)},
                     {"kept", each.kept},
                     {"relative_error", each.relative_error},
                     {"seconds", each.seconds}});
  const Consensus& chosen = choice.ranks[choice.chosen];
  const Vector shares = chosen.usages().colwise().mean();
  constexpr Index kTop = 20;
  Json parts = Json::array();
  for (Index k = 0; k < chosen.model.rank(); ++k)
    parts.push_back({{"usage", shares[k]},
                     {"stability", chosen.stability[std::size_t(k)]},
                     {"members", chosen.members[std::size_t(k)]},
                     {"top", largest(chosen.model.right().col(k), input.column_names, kTop)}});
  return {{"rank", chosen.model.rank()},
          {"reason", choice.reason},
          {"silhouette", chosen.silhouette},
          {"kept", chosen.kept},
          {"relative_error", chosen.relative_error},
          {"parts", parts},
          {"ranks", ranks},
          {"interrupted", choice.ranks.back().interrupted},
          {"peak_memory_bytes", peak_memory_bytes()}};
}

void print_consensus(const ConsensusCommand& c, const ConsensusChoice& choice, const ConsensusInput& input) {
  if (choice.ranks.size() > 1) {
    say("{:>6} {:>12} {:>12} {:>8} {:>12}\n", "rank", "silhouette", "stability", "kept", "error");
    for (std::size_t k = 0; k < choice.ranks.size(); ++k) {
      const Consensus& each = choice.ranks[k];
      say("{:>6} {:>12.4f} {:>12.4f} {:>8.3f} {:>12.6g}{}\n", each.model.rank(), each.silhouette,
          mean_of(each.stability), each.kept, each.relative_error, k == choice.chosen ? "  <-" : "");
    }
    say("\n{}.\n\n", choice.reason);
  }
  const Consensus& chosen = choice.ranks[choice.chosen];
  const Vector shares = chosen.usages().colwise().mean();
  constexpr Index kTop = 6;
  say("{:>6} {:>8} {:>10} {:>8}  {}\n", "part", "usage", "stability", "members", "largest entries");
  for (Index k = 0; k < chosen.model.rank(); ++k)
    say("{:>6} {:>8.3f} {:>10.4f} {:>8}  {}\n", k + 1, shares[k], chosen.stability[std::size_t(k)],
        chosen.members[std::size_t(k)],
        printable(fmt::format(
            "{}", fmt::join(largest(chosen.model.right().col(k), input.column_names, kTop), ", "))));
  double seconds = 0;
  for (const Consensus& each : choice.ranks) seconds += each.seconds;
  say("\n{} starts, {:.1f} % of their spectra kept; silhouette {:.4f}, relative error {:.6g}, {:.3f} s{}\n",
      chosen.errors.size(), 100 * chosen.kept, chosen.silhouette, chosen.relative_error, seconds,
      c.out.empty() ? "" : ", model in " + c.out);
}

int run(ConsensusCommand& c) {
  const std::vector<Index> ranks = ranks_of(c.ranks);
  c.options.loss = parse_loss(c.loss);
  c.options.threads = c.common.threads;
  if (c.columns < 0) throw InvalidArgument(fmt::format("--columns {}: must be 1 or more", c.columns));
  for (const auto& path : {c.usages, c.spectra, c.profiles, c.scores})
    if (!path.empty()) require_matrix_extension(path);
  prepare_outputs({c.out, c.usages, c.spectra, c.profiles, c.scores, c.plot}, {c.input});
  const ConsensusInput input = read_columns(c);
  watch_interrupts();
  ProgressBar bar("consensus");
  c.options.watch = [&](double share, const std::string& what) {
    bar.update(share, what);
    return !was_interrupted();
  };
  const ConsensusChoice choice = choose_consensus(input.data, ranks, c.options);
  const Consensus& chosen = choice.ranks[choice.chosen];
  if (chosen.model.rank() == 0) {
    tell("pursuit: interrupted before two starts were done\n");
    return interrupted;
  }
  write_consensus(c, input, chosen);
  if (!c.plot.empty()) write_consensus_plot(c.plot, choice);
  if (c.common.json) {
    Json object = describe_consensus(choice, input);
    object.set("input", describe_input(input.all));
    print_json(object);
  } else {
    print_consensus(c, choice, input);
  }
  return choice.ranks.back().interrupted || choice.ranks.size() < ranks.size() ? interrupted : success;
}

}  // namespace

void add_consensus(Command& program) {
  auto c = std::make_shared<ConsensusCommand>();
  Command sub =
      program.add_command("consensus", "Non-negative parts that many random starts agree on (cNMF)");
  sub.footer(kConsensusExamples);
  sub.add_option("INPUT", c->input,
                 "Matrix: MatrixMarket (.gz), .npy, .npz (dense or SciPy sparse), CSV, TSV")
      .required();
  sub.add_option("-r,--rank,--ranks", c->ranks, "Number of parts, or several to compare: 9, 5-12, 5,7,9")
      .show_default();
  sub.add_option("--seeds", c->options.seeds, "Random starts").show_default();
  sub.add_option(
         "--density", c->options.density,
         "Spectra whose mean distance to their nearest neighbours is larger are left out; 2 keeps all")
      .show_default();
  sub.add_option("--neighbours", c->options.neighbours, "How many are nearest, as a share of the starts")
      .show_default();
  sub.add_option("--loss", c->loss, "squares, poisson (Kullback-Leibler), itakura-saito").show_default();
  sub.add_option("--columns", c->columns,
                 "Use so many columns alone, those that vary most beside others of similar mean");
  sub.add_flag("--unit-variance", c->unit_variance, "Divide columns by their standard deviation");
  sub.add_option("--polish", c->options.polish, "At most so many sweeps from every start").show_default();
  sub.add_option("--polish-tolerance", c->options.polish_tolerance,
                 "They end when one lowers the objective by less than this share")
      .show_default();
  sub.add_option("--seed", c->options.seed, "Seed of the starts").show_default();
  sub.add_option("-o,--out", c->out, "Write the model here (.npz)");
  sub.add_option("--usages", c->usages, "Write the shares of parts in rows here (.csv, .npy, ...)");
  sub.add_option("--spectra", c->spectra,
                 "Write the parts here, over the columns that were used, each of sum one");
  sub.add_option("--profiles", c->profiles,
                 "Write what parts are made of here, over all columns of INPUT, per million");
  sub.add_option("--scores", c->scores,
                 "Write how columns of INPUT mark parts here: regressions of standardized columns on usages");
  sub.add_option("--plot", c->plot, "Write a picture of silhouette and error by rank here (.svg)");
  add_text_options(sub, c->text);
  add_transpose_option(sub, c->text);
  add_common_options(sub, c->common);
  sub.runs([c] { return run(*c); });
}

}  // namespace pursuit::app
