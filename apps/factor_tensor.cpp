#include "apps/factor_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/io/model_file.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit::app {
namespace {

std::vector<std::string> separated(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t first = 0;;) {
    const std::size_t comma = text.find(',', first);
    parts.push_back(text.substr(first, comma - first));
    if (comma == std::string::npos) return parts;
    first = comma + 1;
  }
}

/// The modes that share one panel, counted from 0.
std::vector<Index> shared_modes(const std::string& text, Index modes) {
  std::vector<Index> result;
  if (text.empty()) return result;
  for (const std::string& part : separated(text)) {
    Index mode = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), mode);
    if (error != std::errc{} || end != part.data() + part.size() || mode < 0 || mode >= modes)
      throw InvalidArgument(
          fmt::format("--symmetric-modes {}: '{}' is no mode; allowed are 0 to {}", text, part, modes - 1));
    if (std::find(result.begin(), result.end(), mode) != result.end())
      throw InvalidArgument(fmt::format("--symmetric-modes {}: mode {} twice", text, mode));
    result.push_back(mode);
  }
  if (result.size() < 2)
    throw InvalidArgument(fmt::format("--symmetric-modes {}: two modes or more share factors", text));
  return result;
}

AtomSets sets_of(const TensorCommand& command, Index modes) {
  const std::vector<std::string> specs = command.modes.empty()
                                             ? std::vector<std::string>(std::size_t(modes), "sphere")
                                             : separated(command.modes);
  if (Index(specs.size()) != modes)
    throw InvalidArgument(fmt::format("--modes {}: {} sets for an array of {} modes; one for each is needed",
                                      command.modes, specs.size(), modes));
  const std::vector<Index> shared = shared_modes(command.symmetric_modes, modes);
  std::vector<Atoms> of_panel;
  std::vector<Index> panel_of;
  Index panel_of_shared = -1;
  for (Index mode = 0; mode < modes; ++mode) {
    const bool is_shared = std::find(shared.begin(), shared.end(), mode) != shared.end();
    if (is_shared && specs[std::size_t(mode)] != specs[std::size_t(shared[0])])
      throw InvalidArgument(
          fmt::format("--modes {}: modes {} and {} share their factors and need the same set", command.modes,
                      shared[0], mode));
    if (is_shared && panel_of_shared >= 0) {
      panel_of.push_back(panel_of_shared);
      continue;
    }
    panel_of.push_back(Index(of_panel.size()));
    of_panel.push_back(parse_atoms(specs[std::size_t(mode)]));
    if (is_shared) panel_of_shared = panel_of.back();
  }
  return {std::move(of_panel), std::move(panel_of)};
}

double oracle_factor(const AtomSets& sets) {
  double factor = 1;
  for (Index panel = 0; panel < sets.panels(); ++panel)
    factor = std::min(factor, sets.panel(panel).traits().oracle_factor);
  return factor;
}

}  // namespace

int run_tensor(const TensorCommand& command) {
  FactorOptions options = command.options;
  options.threads = command.common.threads;
  options.weights = parse_weight_rule(command.weights);
  if (command.start != "greedy" && command.start != "random")
    throw InvalidArgument(fmt::format("--start {}: atoms of an array start greedy or random", command.start));
  options.start = command.start == "random" ? Start::leading : Start::greedy;
  prepare_outputs({command.out, command.plot}, {command.input});
  const TensorData input = read_tensor(command.input, command.common.threads);
  const AtomSets sets = sets_of(command, Index(input.shape.size()));
  options.observer = watch("factor");
  const FactorResult result = factor_tensor(input.target, sets, options);
  if (!command.out.empty()) {
    std::vector<std::string> specs;
    for (Index mode = 0; mode < sets.modes(); ++mode) specs.push_back(sets.mode(mode).spec());
    save_model(command.out, {.model = result.model,
                             .trace = result.trace,
                             .row_names = {},
                             .column_names = {},
                             .metadata = {{"command", command_line()},
                                          {"modes", fmt::format("{}", fmt::join(specs, ","))},
                                          {"weights", command.weights},
                                          {"seed", fmt::format("{}", options.seed)},
                                          {"stop", name(result.stop)},
                                          {"relative_error", fmt::format("{}", result.relative_error)}}});
  }
  if (!command.plot.empty()) write_error_plot(command.plot, result.trace);
  if (command.common.json) {
    Json object = describe(result);
    object.set("shape", input.shape);
    object.set("stored", input.stored);
    object.set("oracle_factor", oracle_factor(sets));
    print_json(object);
  } else {
    print_summary(result, command.out);
  }
  return result.stop == Stop::interrupted ? interrupted : success;
}

}  // namespace pursuit::app
