#include "pursuit/pursuit/pca.hpp"

#include <fmt/format.h>

#include <memory>

#include "apps/output.hpp"
#include "apps/session.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit::app {
namespace {

struct PcaCommand {
  CommonOptions common;
  PcaOptions options;
  std::string input, atoms = "sphere", out, loadings, scores;
};

constexpr const char* kFooter = R"(Rows of INPUT are samples, columns are variables; columns are centred.
Explained variance is that of the span of the components (never above PCA's); the plain sum, which counts
overlapping components twice, is printed beside it.

Examples:
  pursuit pca expression.csv --components 5 --atoms sparse:300 --loadings signatures.csv --scores samples.csv
  pursuit pca spectra.npy --components 3 --atoms nonneg+sparse:0.2 --json)";

std::vector<std::string> component_names(Index count) {
  std::vector<std::string> names;
  for (Index i = 1; i <= count; ++i) names.push_back(fmt::format("component_{}", i));
  return names;
}

int run(PcaCommand& command) {
  command.options.atoms = parse_atoms(command.atoms);
  prepare_outputs({command.out, command.loadings, command.scores});
  const NamedMatrix input = read_matrix(command.input);
  command.options.factor.threads = command.common.threads;
  command.options.factor.observer = watch("pca");
  const PcaResult result = pca(data_matrix(input.matrix, command.common.threads), command.options);
  const FactorResult& factorization = result.factorization;

  const auto names = component_names(result.loadings.cols());
  if (!command.loadings.empty()) write_matrix(command.loadings, {result.loadings, input.column_names, names});
  if (!command.scores.empty()) write_matrix(command.scores, {result.scores, input.row_names, names});
  if (!command.out.empty())
    save_model(command.out, {factorization.model,
                             factorization.trace,
                             input.row_names,
                             input.column_names,
                             {{"command", command_line()},
                              {"left", "sphere"},
                              {"right", command.atoms},
                              {"weights", "free"},
                              {"centered", "true"},
                              {"seed", fmt::format("{}", command.options.factor.seed)},
                              {"stop", name(factorization.stop)},
                              {"explained_span", fmt::format("{}", result.explained_span)},
                              {"relative_error", fmt::format("{}", factorization.relative_error)}}});
  if (command.common.json) {
    nlohmann::json object = describe(factorization);
    object["explained"] = {{"plain", result.explained_plain}, {"span", result.explained_span}};
    print_json(object);
  } else {
    fmt::print("{:>10} {:>10} {:>16}\n", "component", "non-zeros", "weight");
    for (Index i = 0; i < result.loadings.cols(); ++i)
      fmt::print("{:>10} {:>10} {:>16.6g}\n", i + 1, (result.loadings.col(i).array() != 0).count(),
                 factorization.model.weights[i]);
    fmt::print("\nexplained variance: span {:.4f}, plain {:.4f}; {:.3f} s: {}\n", result.explained_span,
               result.explained_plain, factorization.seconds, explanation(factorization.stop));
  }
  return factorization.stop == Stop::interrupted ? interrupted : success;
}

}  // namespace

void add_pca(CLI::App& app, int& status) {
  auto command = std::make_shared<PcaCommand>();
  CLI::App* sub = app.add_subcommand("pca", "Principal components with structured loadings");
  sub->footer(kFooter);
  sub->add_option("INPUT", command->input, "Samples x variables, any matrix file")->required();
  sub->add_option("-c,--components", command->options.components, "Number of components")
      ->capture_default_str();
  sub->add_option("-a,--atoms", command->atoms,
                  "Atom set of the loadings: sphere, sparse:K, nonneg, nonneg+sparse:K")
      ->capture_default_str();
  add_pursuit_options(*sub, command->options.factor);
  sub->add_option("-o,--out", command->out, "Write the model of the centred data here (.npz)");
  sub->add_option("--loadings", command->loadings, "Write the loadings here (.csv, .npy, ...)");
  sub->add_option("--scores", command->scores, "Write the scores of the samples here (.csv, .npy, ...)");
  add_common_options(*sub, command->common);
  sub->callback([command, &status] { status = run(*command); });
}

}  // namespace pursuit::app
