#include "pursuit/algorithms/pca.hpp"

#include <fmt/format.h>

#include <memory>

#include "apps/checkpoint_options.hpp"
#include "apps/console.hpp"
#include "apps/input.hpp"
#include "apps/named_sets.hpp"
#include "apps/output.hpp"
#include "apps/ranks.hpp"
#include "apps/rehearsal.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/baselines/baselines.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit::app {
namespace {

struct PcaCommand {
  CommonOptions common;
  TextInput text;
  CheckpointInput checkpoint;
  PcaOptions options;
  std::string input, atoms = "sphere", effort = "normal", method = "pursuit",
                     deflation = "orthogonal-projection";
  std::string out, loadings, scores, loss = "squares";
  int corrections = 0;
  bool covariance = false;
};

constexpr const char* kPcaExamples = R"(Rows of INPUT are samples, columns are variables; columns are centred.
Explained variance is that of the span of the components (never above PCA's); the plain sum, which counts
overlapping components twice, is printed beside it.

Methods: pursuit (this library's), or one that it is compared with: tpower (truncated power method), gpower-l0,
gpower-l1, empca, spannogram, cone-power; these find one component at a time, with --deflation and --corrections.

Examples:
  pursuit pca expression.csv --components 5 --atoms sparse:300 --loadings signatures.csv --scores samples.csv
  pursuit pca spectra.npy --components 3 --atoms nonneg+sparse:0.2 --json
  pursuit pca expression.csv --components 5 --atoms sparse:300 --effort high
  pursuit pca survey.csv --correlation --components 3 --nonzeros 6,4,2
  pursuit pca survey.csv --components 4 --total-nonzeros 20
  pursuit pca correlations.csv --covariance --components 6 --nonzeros 7,2,4,3,5,4
  pursuit pca expression.csv --components 5 --atoms sparse:300 --method tpower --deflation projection --corrections 3)";

std::vector<std::string> component_names(Index count) {
  std::vector<std::string> names;
  for (Index i = 1; i <= count; ++i) names.push_back(fmt::format("component_{}", i));
  return names;
}

PcaResult by_baseline(const PcaCommand& c, const Covariance& C, const DataMatrixPtr& samples) {
  if (!c.options.nonzeros.empty() || c.options.total_nonzeros > 0 || c.options.orthogonality > 0 ||
      c.options.correlation)
    throw InvalidArgument(
        fmt::format("--method {}: takes --atoms alone; --nonzeros, --total-nonzeros, --orthogonality and "
                    "--correlation are for the method pursuit",
                    c.method));
  watch_interrupts();
  Run run({.time_limit = c.options.time_limit}, [](const Moment&) { return !was_interrupted(); });
  BaselineOptions options;
  options.components = c.options.components;
  options.atoms = c.options.atoms;
  options.deflation = parse_deflation(c.deflation);
  options.corrections = c.corrections;
  options.seed = c.options.seed;
  options.go_on = [&] { return run.go_on({}); };
  PcaResult result = baseline_pca(parse_baseline(c.method), C, options, samples);
  result.stop = run.stop();
  return result;
}

PcaResult compute(PcaCommand& c, const DataMatrixPtr& samples, const Matrix& C) {
  if (c.covariance && !c.scores.empty())
    throw InvalidArgument("--scores: a covariance has no samples to score");
  if (c.method != "pursuit") {
    if (c.covariance) {
      pca_of_covariance(C, {.components = 1});  // refuses what is no covariance
      return by_baseline(c, Covariance(data_matrix(C, c.common.threads)), nullptr);
    }
    return by_baseline(c, Covariance::of_samples(samples), samples);
  }
  c.options.observer = observe("pca", c.common);
  c.options.threads = c.common.threads;
  if (c.covariance) return pca_of_covariance(C, c.options);
  return pca(samples, c.options);
}

int run(PcaCommand& c) {
  if (parse_loss(c.loss).kind != Loss::squares)
    throw InvalidArgument(
        fmt::format("--loss {}: variance is a matter of squares. Components of another loss, with the "
                    "offsets that take the "
                    "place of means: pursuit factor {} --loss {} --offsets --rank {} --right {}",
                    c.loss, c.input, c.loss, c.options.components, c.atoms));
  const auto atoms = set_before_data(c.atoms);
  c.options.effort = c.effort == "low"    ? PcaOptions::Effort::low
                     : c.effort == "high" ? PcaOptions::Effort::high
                                          : PcaOptions::Effort::normal;
  if (c.method != "pursuit") parse_baseline(c.method);
  if (c.method != "pursuit" && c.common.dry_run) throw InvalidArgument("--dry-run: for the method pursuit");
  parse_deflation(c.deflation);
  if (c.method != "pursuit") refuse_checkpoints(c.checkpoint, fmt::format("--method {}", c.method));
  if (c.corrections < 0)
    throw InvalidArgument(fmt::format("--corrections {}: must be 0 or more", c.corrections));
  if (c.covariance && !c.out.empty())
    throw InvalidArgument("--out: a covariance has no samples to model; use --loadings");
  for (const auto& path : {c.loadings, c.scores})
    if (!path.empty()) require_matrix_extension(path);
  prepare_outputs({c.out, c.loadings, c.scores}, {c.input});
  c.options.checkpoints = checkpoints_of(c.checkpoint, {c.out, c.loadings, c.scores}, {c.input});
  tell_if_alone(c.covariance, "pca of a covariance does");
  NamedMatrix given;  // a covariance instead of samples
  if (c.covariance) {
    given = read_input(c.input, c.text, c.common.threads);
    given.matrix = dense(std::move(given.matrix));
  }
  const MatrixData input =
      c.covariance ? in_memory(given, c.common.threads) : read_shared_data(c.input, c.text, c.common.threads);
  c.options.names = input.column_names;
  c.options.atoms = set_for(atoms, c.atoms, input.column_names);
  const PcaResult result = compute(c, input.matrix, std::get<Matrix>(given.matrix));
  if (c.common.dry_run)
    return tell_forecast(c.common, {.shape = {input.matrix->rows(), input.matrix->cols()},
                                    .entries = input.stored,
                                    .rank = c.options.components,
                                    .writes = !c.out.empty()});

  const auto names = component_names(result.loadings.cols());
  const auto without_signs_of_zeros = [](const Matrix& m) {
    return Matrix(m.array() + 0.0);
  };  // nobody reads a -0
  if (!c.loadings.empty())
    write_matrix(c.loadings, {without_signs_of_zeros(result.loadings), input.column_names, names});
  if (!c.scores.empty())
    write_matrix(c.scores, {without_signs_of_zeros(result.scores), input.row_names, names});
  if (!c.out.empty())
    save_model(c.out, {factorization_of(result),
                       {},
                       input.row_names,
                       input.column_names,
                       {{"command", command_line()},
                        {"left", "sphere"},
                        {"right", c.atoms},
                        {"weights", "free"},
                        {"centered", "true"},
                        {"seed", fmt::format("{}", c.options.seed)},
                        {"stop", name(result.stop)},
                        {"explained_span", fmt::format("{}", result.explained_span)}},
                       result.means,
                       result.deviations});
  std::vector<Index> support;
  for (const auto u : result.loadings.colwise()) support.push_back((u.array() != 0).count());
  const std::vector<double> shares(result.explained_shares.begin(), result.explained_shares.end());
  if (c.common.json) {
    Json object{{"rank", result.loadings.cols()},
                {"columns", result.loadings.rows()},
                {"explained",
                 {{"plain", result.explained_plain}, {"span", result.explained_span}, {"shares", shares}}},
                {"relative_error", std::sqrt(std::max(0.0, 1 - result.explained_span))},
                {"nonzeros", support},
                {"method", c.method},
                {"sweeps", result.sweeps},
                {"interrupted", result.stop == Stop::interrupted},
                {"stop", name(result.stop)},
                {"seconds", result.seconds},
                {"input", describe_input(input)},
                {"peak_memory_bytes", peak_memory_bytes()}};
    describe_ranks(input.matrix->threads(), object);
    print_json(object);
  } else {
    say("{:>10} {:>10} {:>10} {:>20}\n", "component", "variance", "non-zeros", "largest loading");
    for (Index i = 0; i < result.loadings.cols(); ++i) {
      Index place = 0;
      result.loadings.col(i).cwiseAbs().maxCoeff(&place);
      const std::string variable = input.column_names.empty() ? fmt::format("variable {}", place + 1)
                                                              : input.column_names[std::size_t(place)];
      say("{:>10} {:>10.4f} {:>10} {:>20}\n", i + 1, result.explained_shares[i], support[std::size_t(i)],
          printable(variable));
    }
    say("\nvariance: share that a component adds to those before it; span {:.4f}, plain {:.4f}; {:.3f} s: "
        "{}\n",
        result.explained_span, result.explained_plain, result.seconds, explanation(result.stop));
  }
  if (result.stop != Stop::interrupted) return success;
  tell_how_to_resume(c.checkpoint);
  return interrupted;
}

}  // namespace

void add_pca(Command& program) {
  auto c = std::make_shared<PcaCommand>();
  Command sub = program.add_command("pca", "Principal components with structured loadings");
  sub.footer(kPcaExamples);
  sub.add_option("INPUT", c->input,
                 "Samples x variables, any matrix file; with --covariance a symmetric matrix")
      .required();
  sub.add_option("-c,--components", c->options.components, "Number of components").show_default();
  sub.add_option("-a,--atoms", c->atoms,
                 "Atom set of the loadings: sphere, sparse:K, nonneg, nonneg+sparse:K")
      .show_default();
  sub.add_option("-k,--nonzeros", c->options.nonzeros,
                 "Bound on the non-zeros of every component, one number for each")
      .separated_by(',');
  sub.add_option("--total-nonzeros", c->options.total_nonzeros,
                 "Bound on all non-zeros together, shared out as it pays");
  sub.add_option("--orthogonality", c->options.orthogonality,
                 "Cost of overlap between loadings, 0 to about 1");
  sub.add_flag("--correlation", c->options.correlation, "Scale every variable to unit variance");
  sub.add_flag("--covariance", c->covariance, "INPUT is a covariance or correlation matrix");
  sub.add_option("--effort", c->effort, "low: one start; normal: about a second; high: about a minute")
      .one_of({"low", "normal", "high"})
      .show_default();
  sub.add_option("--method", c->method, "pursuit, or a method that it is compared with (below)")
      .show_default();
  sub.add_option("--deflation", c->deflation,
                 "Of other methods: hotelling, projection, schur, orthogonal-projection")
      .show_default();
  sub.add_option("--corrections", c->corrections, "Of other methods: sweeps over the components at the end")
      .show_default();
  sub.add_option("--loss", c->loss, "squares; for others see 'pursuit factor --loss'").show_default();
  sub.add_option("--seed", c->options.seed, "Seed of random starts").show_default();
  sub.add_option("--time-limit", c->options.time_limit,
                 "Stop after so many seconds and keep the result so far");
  add_checkpoint_options(sub, c->checkpoint);
  sub.add_option("-o,--out", c->out, "Write the model of the centred data here (.npz)");
  sub.add_option("--loadings", c->loadings, "Write the loadings here (.csv, .npy, ...)");
  sub.add_option("--scores", c->scores, "Write the scores of the samples here (.csv, .npy, ...)");
  add_text_options(sub, c->text);
  add_transpose_option(sub, c->text);
  add_dry_run_option(sub, c->common);
  add_common_options(sub, c->common);
  sub.runs([c] { return run(*c); });
}

}  // namespace pursuit::app
