#include "apps/factor_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/console.hpp"
#include "apps/known_atoms.hpp"
#include "apps/mode_names.hpp"
#include "apps/mode_sets.hpp"
#include "apps/output.hpp"
#include "apps/rehearsal.hpp"
#include "pursuit/algorithms/degeneracy.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/io/model_file.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit::app {
namespace {

double oracle_factor(const AtomSets& sets) {
  double factor = 1;
  for (Index panel = 0; panel < sets.panels(); ++panel)
    factor = std::min(factor, sets.panel(panel).traits().oracle_factor);
  return factor;
}

/// One known factor per column.
std::vector<KnownFactors> known_factors_of(const TensorInput& command, const std::vector<Index>& shape) {
  std::vector<KnownFactors> known;
  for (std::size_t i = 0; i + 1 < command.fix_mode.size(); i += 2) {
    const std::string& path = command.fix_mode[i + 1];
    const Index mode =
        mode_of(command.fix_mode[i], Index(shape.size()), fmt::format("--fix-mode {}", command.fix_mode[i]));
    Matrix factors = read_dense(path);
    if (factors.rows() != shape[std::size_t(mode)])
      throw InvalidInput(
          fmt::format("{}: has {} rows, but mode {} has {} indices; one known factor per column is expected",
                      path, factors.rows(), mode, shape[std::size_t(mode)]));
    known.push_back({mode, std::move(factors)});
  }
  return known;
}

Json describe_degeneracy(const Degeneracy& degeneracy) {
  Json atoms = Json::array();
  atoms.push_back(degeneracy.first + 1);
  atoms.push_back(degeneracy.second + 1);
  return {{"congruence", degeneracy.congruence},
          {"atoms", atoms},
          {"condition", degeneracy.condition},
          {"degenerate", degeneracy.is_degenerate()}};
}

void warn_of_degeneracy(const Degeneracy& degeneracy) {
  if (!degeneracy.is_degenerate()) return;
  tell(
      "warning: the atoms degenerate: atoms {} and {} cancel each other (congruence {:.4f}, condition "
      "{:.3g}). "
      "There may be no best approximation of this rank, and its weights grow without end. Cures: --ridge, "
      "nonneg on the modes with --weights nonneg, or fewer atoms.\n",
      degeneracy.first + 1, degeneracy.second + 1, degeneracy.congruence, degeneracy.condition);
}

}  // namespace

bool TensorInput::given() const {
  return !symmetric_modes.empty() || !fix_mode.empty() || options.ridge != 0;
}

bool TensorInput::given_of_squares() const {
  return !fix_mode.empty() || options.starts >= 0 || options.ridge != 0;
}

void add_tensor_options(Command& command, TensorInput& input) {
  command.add_option("--modes", input.modes,
                     "Atom sets of an array of three and more modes, one SPEC for each, separated by commas");
  command.add_option("--symmetric-modes", input.symmetric_modes,
                     "With --modes: modes that share their factors, such as 0,1");
  command
      .add_option("--fix-mode", input.fix_mode,
                  "Of an array: a mode, counted from 0, and a matrix of its known factors, one per column,\n"
                  "which stay as they are; may be given for several modes")
      .pairs();
  command
      .add_option(
          "--starts", input.options.starts,
          "Of an array, or of a matrix under a --loss: all-at-once starts that race, losers dropped early,\n"
          "beside the greedy one (default: as many as are cheap, 8 at most)")
      .between(0, 10000);
  command
      .add_option("--ridge", input.options.ridge,
                  "Of an array: every factor pays so much for its squared size, against atoms that cancel")
      .not_negative();
}

int run_tensor(const TensorCommand& command) {
  FactorOptions options = command.options;
  options.threads = command.common.threads;
  options.weights = parse_weight_rule(command.weights);
  if (command.start != "greedy" && command.start != "leading" && command.start != "random")
    throw InvalidArgument(
        fmt::format("--start {}: atoms of an array start greedy, leading or random", command.start));
  options.start = command.start == "greedy" ? Start::greedy : Start::leading;
  TensorOptions more = command.tensor.options;
  more.random = command.start == "random";
  std::vector<std::string> inputs{command.input};
  for (std::size_t i = 1; i < command.tensor.fix_mode.size(); i += 2)
    inputs.push_back(command.tensor.fix_mode[i]);
  prepare_outputs({command.out, command.plot}, inputs);
  const TensorData input = read_tensor(command.input, command.common.threads);
  const AtomSets sets = sets_of_modes(command.tensor.modes, command.tensor.symmetric_modes,
                                      Index(input.shape.size()), input.names);
  more.known = known_factors_of(command.tensor, input.shape);
  options.observer = observe("factor", command.common);
  const FactorResult result = factor_tensor(input.target, sets, options, more);
  if (command.common.dry_run)
    return tell_forecast(command.common, {.shape = input.shape,
                                          .entries = input.stored,
                                          .rank = options.rank,
                                          .writes = !command.out.empty()});
  const Degeneracy degeneracy = degeneracy_of(result.model);
  if (!command.out.empty()) {
    ModelFile file{.model = result.model,
                   .trace = result.trace,
                   .row_names = {},
                   .column_names = {},
                   .metadata = {{"command", command_line()},
                                {"modes", specs_of(sets)},
                                {"weights", command.weights},
                                {"seed", fmt::format("{}", options.seed)},
                                {"stop", name(result.stop)},
                                {"relative_error", fmt::format("{}", result.relative_error)}}};
    if (more.ridge > 0) file.metadata["ridge"] = fmt::format("{}", more.ridge);
    take_mode_names(input.names, input.labels, file);
    save_model(command.out, file);
  }
  if (!command.plot.empty()) write_error_plot(command.plot, result.trace);
  if (command.common.json) {
    Json object = describe(result);
    object.set("shape", input.shape);
    object.set("stored", input.stored);
    object.set("oracle_factor", oracle_factor(sets));
    object.set("degeneracy", describe_degeneracy(degeneracy));
    print_json(object);
  } else {
    print_summary(result, command.out);
  }
  warn_of_degeneracy(degeneracy);
  return result.stop == Stop::interrupted ? interrupted : success;
}

}  // namespace pursuit::app
