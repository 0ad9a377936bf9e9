#include "apps/complete_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/loss_options.hpp"
#include "apps/mode_names.hpp"
#include "apps/mode_sets.hpp"
#include "apps/output.hpp"
#include "apps/rehearsal.hpp"
#include "pursuit/algorithms/factor_observed_tensor.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/io/observed_tensor_file.hpp"
#include "pursuit/report/svg.hpp"

namespace pursuit::app {
namespace {

/// Where nothing is known nothing is said: one word about it, mode by mode.
Json places_without_word(const ObservedTensor& data, bool offsets) {
  constexpr std::size_t kShown = 5;
  Json object = Json::object();
  for (Index mode = 0; mode < data.modes(); ++mode) {
    const std::vector<Index> places = places_without_entries(data, mode);
    if (places.empty()) continue;
    Json list = Json::array();
    std::vector<Index> first;
    for (const Index place : places) {
      list.push_back(place + 1);
      if (first.size() < kShown) first.push_back(place + 1);
    }
    object.set(fmt::format("{}", mode), list);
    tell(
        "pursuit: note: mode {}: no entry is known of {} of {} places (counted from 1: {}{}): atoms say "
        "nothing "
        "there, predictions are {}\n",
        mode, places.size(), data.entries.shape[std::size_t(mode)], fmt::join(first, ", "),
        places.size() > kShown ? ", ..." : "", offsets ? "offsets alone" : "those of x = 0");
  }
  return object;
}

Json describe_tensor_accuracy(const TensorAccuracy& figures, const Loss& loss) {
  tell("\ntest: RMSE {:.5g}, MAE {:.5g}{} over {} entries\n", figures.rmse, figures.mae,
       loss.kind == Loss::squares ? "" : fmt::format(", deviance {:.5g} per entry", figures.deviance),
       figures.count);
  return {
      {"count", figures.count}, {"rmse", figures.rmse}, {"mae", figures.mae}, {"deviance", figures.deviance}};
}

void print_tensor_stages(const std::vector<CompletionStage>& path, const std::string& error) {
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.5g}", value) : std::string("-");
  };
  tell("{:>6} {:>8} {:>20} {:>9}\n", "rank", "sweeps", "validation " + error, "seconds");
  for (const CompletionStage& stage : path)
    tell("{:>6} {:>8} {:>20} {:>9.2f}\n", stage.rank, stage.sweeps, number(stage.validation), stage.seconds);
}

Json describe_tensor_stages(const std::vector<CompletionStage>& path, bool squares) {
  Json result = Json::array();
  for (const CompletionStage& stage : path) {
    Json object{{"rank", stage.rank}, {"sweeps", stage.sweeps}};
    if (squares) object.set("noise", number_or_null(stage.noise));
    object.set(squares ? "validation_rmse" : "validation_deviance", number_or_null(stage.validation));
    object.set("seconds", stage.seconds);
    result.push_back(object);
  }
  return result;
}

void plot_validation(const std::string& path, const std::vector<CompletionStage>& stages,
                     const std::string& error) {
  std::vector<double> ranks, errors;
  for (const CompletionStage& stage : stages)
    if (std::isfinite(stage.validation)) {
      ranks.push_back(double(stage.rank));
      errors.push_back(stage.validation);
    }
  const auto vector = [](const std::vector<double>& v) {
    return Vector(Eigen::Map<const Vector>(v.data(), Index(v.size())));
  };
  write_file_atomically(path, svg_line_plot({{"validation " + error, vector(ranks), vector(errors)}},
                                            {"Validation error by rank", "rank", error}));
}

ObservedTensor read_test(const CompleteTensorCommand& c, const AtomSets& sets, NamedObservedTensor& input) {
  ObservedTensor& data = input.data;
  if (c.holdout > 0) {
    const Index count = Index(c.holdout * double(data.size()));
    if (count < 1 || count >= data.size())
      throw InvalidInput(fmt::format("--holdout {}: leaves {} of {} entries to train on and {} to test",
                                     c.holdout, data.size() - count, data.size(), count));
    std::vector<Index> panel_of;
    panel_of.reserve(std::size_t(sets.modes()));
    for (Index mode = 0; mode < sets.modes(); ++mode) panel_of.push_back(sets.panel_of(mode));
    return hold_back(data, c.holdout, data.size(), c.options.seed, panel_of);
  }
  if (c.test.empty()) return {};
  NamedObservedTensor read = read_named_observed_tensor(c.test, Others::unknown, c.common.threads);
  ObservedTensor& test = read.data;
  const std::vector<Index>& shape = data.entries.shape;
  bool fits = test.modes() == data.modes();
  const Index all = test.size(),
              unknown = fits ? bring_to(ModePlaces(input.names, shape), read.names, test.entries) : 0;
  for (std::size_t m = 0; fits && m < shape.size(); ++m) fits = test.entries.shape[m] <= shape[m];
  if (!fits)
    throw InvalidInput(fmt::format("--test {}: an array of {}; the data are {}", c.test,
                                   fmt::join(test.entries.shape, " x "), fmt::join(shape, " x ")));
  if (unknown == all)
    throw InvalidInput(
        fmt::format("--test {}: no entry has ids that are all among those of the data", c.test));
  if (unknown > 0)
    tell("pursuit: note: {} of {} test entries have an id that the data do not have; they are left out\n",
         unknown, all);
  return std::move(test);
}

/// Parts that only add up hold each other down, and may be better off without paying for their size.
bool all_without_negative_entries(const AtomSets& sets) {
  for (Index mode = 0; mode < sets.modes(); ++mode)
    if (const auto& simple = sets.mode(mode).traits().simple; !simple || !simple->nonnegative) return false;
  return true;
}

}  // namespace

int run_complete_tensor(const CompleteTensorCommand& c) {
  TensorCompletionOptions options = c.options;
  options.threads = c.common.threads;
  options.weights = parse_weight_rule(c.weights);
  options.loss = parse_loss(c.loss);
  const bool squares = options.loss.kind == Loss::squares;
  const bool tunes = squares && c.symmetric_modes.empty();
  const bool by_itself = c.regularize.empty() || (c.regularize == "auto" && !squares);
  options.regularization = parse_regularization(!by_itself ? c.regularize : tunes ? "auto" : "none");
  prepare_outputs({c.out, c.plot}, {c.input, c.test, c.entry_weights});
  const Timer timer;
  NamedObservedTensor input = read_named_observed_tensor(c.input, Others::unknown, c.common.threads);
  ObservedTensor& data = input.data;
  const AtomSets sets = sets_of_modes(c.modes, c.symmetric_modes, data.modes(), input.names);
  options.or_none = by_itself && tunes && all_without_negative_entries(sets);
  if (!c.entry_weights.empty())
    read_tensor_weights(c.entry_weights, options.loss, input.names, data, c.common.threads);
  const ObservedTensor test = read_test(c, sets, input);
  const double reading = timer.seconds();
  const std::vector<Index> shape = data.entries.shape;
  const Index entries = data.size();
  const Json without = places_without_word(data, options.offsets);
  options.observer = observe("complete", c.common);
  const TensorCompletion result = complete_tensor(std::move(data), sets, options);
  if (c.common.dry_run)
    return tell_forecast(c.common, {.shape = shape,
                                    .entries = entries,
                                    .rank = options.rank > 0 ? options.rank : options.max_rank,
                                    .writes = !c.out.empty()});
  const std::string error = squares ? "RMSE" : "deviance";
  print_tensor_stages(result.path, error);
  if (!c.plot.empty()) plot_validation(c.plot, result.path, error);
  const bool halted = result.stop == Stop::interrupted;
  Json object{
      {"loss", options.loss.spec()},
      {"regularize", result.regularization.spec()},
      {"rank", result.model.atoms.rank()},
      {"shape", shape},
      {"entries", entries},
      {"objective", result.objective},
      {"deviance_explained", result.null_objective > 0 ? 1 - result.objective / result.null_objective : 1.0},
      {"places_without_entries", without},
      {"stop", name(result.stop)},
      {"converged", result.stop != Stop::not_converged && !halted},
      {"interrupted", halted},
      {"path", describe_tensor_stages(result.path, squares)},
      {"reading_seconds", reading},
      {"seconds", result.seconds},
      {"peak_memory_bytes", peak_memory_bytes()}};
  if (test.size() > 0)
    object.set("test", describe_tensor_accuracy(accuracy(result.model, test), options.loss));
  tell("\n{} atoms, in {:.2f} s: {}\n", result.model.atoms.rank(), result.seconds, explanation(result.stop));
  if (!c.out.empty()) {
    ModelFile file{result.model.atoms, result.trace, {}, {}, {}};
    file.metadata = {{"command", command_line()}, {"modes", specs_of(sets)},
                     {"weights", c.weights},      {"seed", fmt::format("{}", options.seed)},
                     {"completed", "true"},       {"stop", name(result.stop)}};
    file.loss = options.loss;
    file.own_terms = result.model.own_terms;
    take_mode_names(input.names, input.labels, file);
    save_model(c.out, file);
    tell("model written to {}\n", c.out);
  }
  if (c.common.json) print_json(object);
  return halted && was_interrupted() ? interrupted : success;
}

int run_factor_tensor_loss(const FactorTensorLossCommand& c) {
  FactorOptions options = c.options;
  options.threads = c.common.threads;
  options.weights = parse_weight_rule(c.weights);
  options.loss = parse_loss(c.loss);
  if (c.start != "greedy" && c.start != "random")
    throw InvalidArgument(
        fmt::format("--start {}: atoms of an array with a loss or weights start greedy or random", c.start));
  options.start = c.start == "random" ? Start::leading : Start::greedy;
  prepare_outputs({c.out, c.plot}, {c.input, c.entry_weights});
  NamedObservedTensor input = read_named_observed_tensor(c.input, Others::zero, c.common.threads);
  ObservedTensor& data = input.data;
  const AtomSets sets = sets_of_modes(c.modes, c.symmetric_modes, data.modes(), input.names);
  const Index stored = data.size();
  if (!c.entry_weights.empty())
    read_tensor_weights(c.entry_weights, options.loss, input.names, data, c.common.threads);
  options.observer = observe("factor", c.common);
  const FactorResult result = factor_tensor(data, sets, options);
  if (c.common.dry_run)
    return tell_forecast(
        c.common,
        {.shape = data.entries.shape, .entries = stored, .rank = options.rank, .writes = !c.out.empty()});
  const bool squares = options.loss.kind == Loss::squares;
  if (!c.out.empty()) {
    ModelFile file{result.model, result.trace, {}, {}, {}};
    file.metadata = {{"command", command_line()},
                     {"modes", specs_of(sets)},
                     {"weights", c.weights},
                     {"seed", fmt::format("{}", options.seed)},
                     {"stop", name(result.stop)},
                     {"relative_error", fmt::format("{}", result.relative_error)},
                     {"deviance_explained", fmt::format("{}", result.deviance_explained())}};
    file.loss = options.loss;
    file.own_terms = result.own_terms;
    take_mode_names(input.names, input.labels, file);
    save_model(c.out, file);
  }
  if (!c.plot.empty()) write_error_plot(c.plot, result.trace, squares);
  if (c.common.json) {
    Json object = describe(result);
    describe_loss(result, options.loss, object);
    object.set("shape", data.entries.shape);
    object.set("stored", stored);
    print_json(object);
  } else {
    print_summary(result, c.out, squares);
  }
  return result.stop == Stop::interrupted ? interrupted : success;
}

}  // namespace pursuit::app
