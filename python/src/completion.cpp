// Matrix completion: entries in, a model that predicts out.

#include "completion.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "checkpoints.hpp"
#include "columns.hpp"
#include "completion_state.hpp"
#include "interpreter.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/complete_in_time.hpp"
#include "pursuit/completion/evaluate.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/completion/recommend.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/io/features_file.hpp"
#include "ranks.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

using Ints = py::array_t<int, py::array::c_style | py::array::forcecast>;
using Places = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
using Bounds = std::optional<std::pair<double, double>>;

template <class Value>
std::vector<Value> copied(const py::array_t<Value, py::array::c_style | py::array::forcecast>& array) {
  return {array.data(), array.data() + array.size()};
}

ObservedEntries entries_of(Index rows, Index cols, const Ints& row, const Ints& col, const Floats& value) {
  return {rows, cols, copied(row), copied(col), copied(value)};
}

GroupedEntries grouped(Index rows, Index cols, const Ints& row, const Ints& col, const Floats& value) {
  if (rows < 0) throw InvalidArgument("a number of rows below 0");
  if (value.size() == 0) return {std::vector<std::int64_t>(std::size_t(rows + 1), 0), {}, {}};
  return ObservedMatrix(entries_of(rows, cols, row, col, value)).take_by_row();
}

std::optional<Range> range_of(const Bounds& bounds) {
  if (!bounds) return std::nullopt;
  return Range{bounds->first, bounds->second};
}

py::dict described(CompletionResult result, const Watch& watch) {
  py::dict path;
  path["rank"] = column_of(result.path, &CompletionStage::rank);
  path["validation"] = column_of(result.path, &CompletionStage::validation);
  path["noise"] = column_of(result.path, &CompletionStage::noise);
  path["seconds"] = column_of(result.path, &CompletionStage::seconds);
  py::dict out = watch.answer(result.stop);
  out["model"] = std::move(result.model);
  out["path"] = path;
  out["seconds"] = result.seconds;
  return out;
}

/// Runs complete or complete_structured without the interpreter's lock, under the eyes of a callback.
template <class Options, class Solve>
py::dict watched(ObservedEntries entries, Options options, const Solve& solve, const py::object& callback) {
  Watch watch(callback);
  options.observer = watch.observer();
  options.team = led_team();
  CompletionResult result;
  {
    const Unlocked unlocked;
    result = solve(std::move(entries), options);
  }
  return described(std::move(result), watch);
}

/// A place as the engine takes it; what does not fit into an int is outside any matrix, and refused as that.
int place(std::int64_t index) {
  return int(
      std::clamp<std::int64_t>(index, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

std::vector<Position> positions_at(const Places& row, const Places& col) {
  if (row.size() != col.size()) throw InvalidArgument("as many rows as columns are needed");
  std::vector<Position> positions;
  for (py::ssize_t i = 0; i < row.size(); ++i)
    positions.push_back({place(row.data()[i]), place(col.data()[i])});
  return positions;
}

/// Each at a time of its own, where there are times.
py::tuple predictions(const CompletionModel& model, const Places& row, const Places& col, int threads,
                      const std::optional<std::vector<double>>& times) {
  const std::vector<Position> positions = positions_at(row, col);
  std::vector<Prediction> all;
  {
    const Unlocked unlocked;
    all = times ? predict(model, positions, *times, threads) : predict(model, positions, threads);
  }
  return py::make_tuple(column_of(all, &Prediction::value), column_of(all, &Prediction::deviation));
}

py::tuple recommendations(const CompletionModel& model, std::int64_t row, Index count, const Ints& excluded) {
  const std::vector<int> left_out = copied(excluded);
  std::vector<Recommendation> best;
  {
    const Unlocked unlocked;
    best = recommend(model, place(row), count, left_out);
  }
  std::vector<Prediction> values;
  for (const Recommendation& each : best) values.push_back(each.prediction);
  return py::make_tuple(column_of(best, &Recommendation::col), column_of(values, &Prediction::value),
                        column_of(values, &Prediction::deviation));
}

py::dict figures_of(const RankingScore& score) {
  py::dict result;
  result["rows"] = score.rows;
  result["ndcg"] = score.ndcg;
  result["recall"] = score.recall;
  result["map"] = score.map;
  result["coverage"] = score.coverage;
  return result;
}

py::dict ranking_of(const CompletionModel& model, const Places& starts, const Ints& columns, const Ints& row,
                    const Ints& col, const Floats& value, double relevant, Index places, int threads) {
  const GroupedEntries seen{copied(starts), copied(columns),
                            std::vector<float>(std::size_t(columns.size()), 1.0F)};
  const ObservedEntries test = entries_of(model.row_count(), model.column_count(), row, col, value);
  RankingScore score;
  {
    const Unlocked unlocked;
    score = ranking_score(model, seen, test, relevant, places, threads);
  }
  return figures_of(score);
}

/// Of every method and split.
py::list scores_of(const std::vector<MethodScore>& scores) {
  py::list result;
  for (const MethodScore& score : scores) {
    py::dict method;
    method["method"] = score.method;
    method["rmse"] = column_of(score.values, &Accuracy::rmse);
    method["mae"] = column_of(score.values, &Accuracy::mae);
    method["log_likelihood"] = column_of(score.values, &Accuracy::log_likelihood);
    method["inside_50"] = column_of(score.values, &Accuracy::inside_50);
    method["inside_80"] = column_of(score.values, &Accuracy::inside_80);
    method["inside_95"] = column_of(score.values, &Accuracy::inside_95);
    method["ndcg"] = column_of(score.lists, &RankingScore::ndcg);
    method["recall"] = column_of(score.lists, &RankingScore::recall);
    method["map"] = column_of(score.lists, &RankingScore::map);
    method["coverage"] = column_of(score.lists, &RankingScore::coverage);
    method["seconds"] = py::array_t<double>(py::ssize_t(score.seconds.size()), score.seconds.data());
    result.append(method);
  }
  return result;
}

Protocol::Kind split_named(const std::string& name) {
  const std::pair<const char*, Protocol::Kind> kinds[] = {{"random", Protocol::random},
                                                          {"time", Protocol::time},
                                                          {"time_per_row", Protocol::time_per_row},
                                                          {"leave_one_out", Protocol::leave_one_out},
                                                          {"cold_rows", Protocol::cold_rows},
                                                          {"cold_columns", Protocol::cold_columns}};
  for (const auto& [word, kind] : kinds)
    if (name == word) return kind;
  throw InvalidArgument("split '" + name +
                        "': must be random, time, time_per_row, leave_one_out, cold_rows or cold_columns");
}

void bind_model(py::module_& m) {
  py::class_<CompletionModel>(m, "CompletionModel", "A completed matrix.")
      .def_property_readonly("rank", &CompletionModel::rank)
      .def_property_readonly("noise", &CompletionModel::noise)
      .def_property_readonly("implicit", &CompletionModel::is_implicit)
      .def_property_readonly("confidence",
                             [](const CompletionModel& model) { return model.implicit.confidence.spec(); })
      .def("ranking_score", &ranking_of, py::arg("starts"), py::arg("columns"), py::arg("row"),
           py::arg("col"), py::arg("value"), py::arg("relevant"), py::arg("places"), py::arg("threads"))
      .def_property_readonly("loss", [](const CompletionModel& model) { return model.loss.spec(); })
      .def_property_readonly("row_width", &row_width)
      .def_property_readonly("features",
                             [](const CompletionModel& model) {
                               return model.rows.features.rows() + model.cols.features.rows();
                             })
      .def_readonly("mean", &CompletionModel::mean)
      .def_readonly("scale", &CompletionModel::scale)
      .def_readonly("lowest", &CompletionModel::lowest)
      .def_readonly("highest", &CompletionModel::highest)
      .def_property_readonly("samples", [](const CompletionModel& model) { return model.samples.size(); })
      .def_property_readonly("row_noise_weights",
                             [](const CompletionModel& model) {
                               const auto& weights = model.rows.noise_weight;
                               return py::array_t<float>(py::ssize_t(weights.size()), weights.data());
                             })
      .def_property_readonly("row_factors", [](const CompletionModel& model) { return model.rows.mean; })
      .def_property_readonly("column_factors", [](const CompletionModel& model) { return model.cols.mean; })
      .def_property_readonly("left", [](const CompletionModel& model) { return model.atoms.left(); })
      .def_property_readonly("right", [](const CompletionModel& model) { return model.atoms.right(); })
      .def_property_readonly("weights", [](const CompletionModel& model) { return model.atoms.weights; })
      .def_property_readonly("drifts", [](const CompletionModel& model) { return model.drift.is_on(); })
      .def_property_readonly("newest", [](const CompletionModel& model) { return model.drift.newest; })
      .def("at_time", &at_time, "With offsets as they are at a time.", py::arg("time"))
      .def_property_readonly("drift",
                             [](const CompletionModel& model) {
                               py::dict result;
                               for (const auto& [name, part] : {std::pair("rows", &model.drift.rows),
                                                                {"columns", &model.drift.cols},
                                                                {"all", &model.drift.all}})
                                 if (part->is_on()) result[name] = py::make_tuple(part->reach, part->ridge);
                               return result;
                             })
      .def("predict", &predictions, py::arg("row"), py::arg("col"), py::arg("threads"),
           py::arg("times") = py::none())
      .def("recommend", &recommendations, py::arg("row"), py::arg("count"), py::arg("excluded"))
      .def(
          "new_row_factors",
          [](const CompletionModel& model, Index rows, Index cols, const Ints& row, const Ints& col,
             const Floats& value, int threads) {
            const GroupedEntries entries = grouped(rows, cols, row, col, value);
            const Unlocked unlocked;
            return new_row_factors(model, entries, threads);
          },
          py::arg("rows"), py::arg("cols"), py::arg("row"), py::arg("col"), py::arg("value"),
          py::arg("threads"))
      .def("predict_rows", &predict_rows, py::call_guard<Unlocked>(), py::arg("factors"))
      .def(
          "error",
          [](const CompletionModel& model, const Places& row, const Places& col, const Floats& value,
             int threads) {
            const std::vector<Position> positions = positions_at(row, col);
            const std::vector<float> values = copied(value);
            if (values.size() != positions.size())
              throw InvalidArgument("as many values as places are needed");
            const Unlocked unlocked;
            return mean_error(model, positions, values, {}, threads);
          },
          "Of entries, under the loss of the model.", py::arg("row"), py::arg("col"), py::arg("value"),
          py::arg("threads"))
      .def(
          "error_of_rows",
          [](const CompletionModel& model, const Matrix& factors, Index rows, Index cols, const Ints& row,
             const Ints& col, const Floats& value) {
            const ObservedEntries entries = entries_of(rows, cols, row, col, value);
            const Unlocked unlocked;
            return error_of_rows(model, factors, entries);
          },
          "The same of entries of rows with these factors.", py::arg("factors"), py::arg("rows"),
          py::arg("cols"), py::arg("row"), py::arg("col"), py::arg("value"))
      .def(py::pickle(&state_of, &model_of));
}

}  // namespace

void bind_completion(py::module_& m) {
  bind_model(m);
  m.def(
      "complete",
      [](Index rows, Index cols, const Ints& row, const Ints& col, const Floats& value,
         const std::string& loss, const std::optional<Floats>& entry_weights,
         const std::optional<std::vector<double>>& times, Index max_rank, bool use_pattern, double validation,
         std::optional<int> samples, const Bounds& range, const CompletionModel* start,
         const std::optional<std::tuple<Places, Ints, Floats>>& start_entries,
         const FeatureFile* row_features, const FeatureFile* column_features, std::uint64_t seed, int threads,
         std::optional<double> time_limit, const py::object& callback, const py::object& checkpoint) {
        CompletionOptions options;
        options.loss = parse_loss(loss);
        if (entry_weights)
          options.entry_weights = {entry_weights->data(), std::size_t(entry_weights->size())};
        options.max_rank = max_rank;
        options.use_pattern = use_pattern;
        options.validation = validation;
        options.samples = samples.value_or(draws_for_high_effort(Index(value.size())));
        options.range = range_of(range);
        options.start = start;
        GroupedEntries earlier;
        if (start_entries) {
          const auto& [starts, columns, values] = *start_entries;
          earlier = {copied(starts), copied(columns), copied(values)};
          options.start_entries = &earlier;
        }
        if (row_features) options.row_features = &row_features->table;
        if (column_features) options.col_features = &column_features->table;
        options.seed = seed;
        options.threads = threads;
        options.time_limit = time_limit.value_or(std::numeric_limits<double>::infinity());
        options.checkpoints = checkpoints_from(checkpoint);
        if (times && options.checkpoints)
          throw InvalidArgument("checkpoint: a fit in time has no state to go on from");
        const auto solve = [&](ObservedEntries entries, const CompletionOptions& with) {
          return times ? complete_in_time(std::move(entries), *times, with)
                       : complete(std::move(entries), with);
        };
        return watched(entries_of(rows, cols, row, col, value), options, solve, callback);
      },
      py::arg("rows"), py::arg("cols"), py::arg("row"), py::arg("col"), py::arg("value"), py::kw_only(),
      py::arg("loss"), py::arg("entry_weights"), py::arg("times"), py::arg("max_rank"),
      py::arg("use_pattern"), py::arg("validation"), py::arg("samples"), py::arg("range"), py::arg("start"),
      py::arg("start_entries"), py::arg("row_features"), py::arg("column_features"), py::arg("seed"),
      py::arg("threads"), py::arg("time_limit"), py::arg("callback"), py::arg("checkpoint") = py::none());

  m.def(
      "complete_implicit",
      [](Index rows, Index cols, const Ints& row, const Ints& col, const Floats& value,
         const std::optional<Atoms>& left, const std::optional<Atoms>& right, const std::string& weights,
         const std::string& confidence, std::optional<Index> max_rank, double validation,
         const CompletionModel* start, const std::optional<std::tuple<Places, Ints, Floats>>& start_entries,
         const FeatureFile* row_features, const FeatureFile* column_features, std::uint64_t seed, int threads,
         std::optional<double> time_limit, const py::object& callback, const py::object& checkpoint) {
        ImplicitOptions options;
        if (left && right) options.sets = ImplicitSets{*left, *right, parse_weight_rule(weights)};
        if (row_features) options.row_features = &row_features->table;
        if (column_features) options.col_features = &column_features->table;
        options.confidence = parse_confidence(confidence);
        options.max_rank = max_rank;
        options.validation = validation;
        options.start = start;
        GroupedEntries earlier;
        if (start_entries) {
          const auto& [starts, columns, values] = *start_entries;
          earlier = {copied(starts), copied(columns), copied(values)};
          options.start_entries = &earlier;
        }
        options.seed = seed;
        options.threads = threads;
        options.time_limit = time_limit.value_or(std::numeric_limits<double>::infinity());
        options.checkpoints = checkpoints_from(checkpoint);
        return watched(entries_of(rows, cols, row, col, value), options, complete_implicit, callback);
      },
      py::arg("rows"), py::arg("cols"), py::arg("row"), py::arg("col"), py::arg("value"), py::kw_only(),
      py::arg("left"), py::arg("right"), py::arg("weights"), py::arg("confidence"), py::arg("max_rank"),
      py::arg("validation"), py::arg("start"), py::arg("start_entries"), py::arg("row_features"),
      py::arg("column_features"), py::arg("seed"), py::arg("threads"), py::arg("time_limit"),
      py::arg("callback"), py::arg("checkpoint") = py::none());

  m.def(
      "evaluate",
      [](Index rows, Index cols, const Ints& row, const Ints& col, const Floats& value,
         const std::vector<std::string>& methods, const std::string& kind, const std::vector<double>& split,
         int repeat, int folds, const std::vector<double>& times, Index places,
         std::optional<double> relevant, std::uint64_t seed, int threads) {
        Protocol protocol;
        protocol.kind = split_named(kind);
        protocol.split = split;
        protocol.repeat = repeat;
        protocol.folds = folds;
        protocol.times = times;
        protocol.places = places;
        protocol.relevant = relevant;
        protocol.seed = seed;
        protocol.threads = threads;
        const ObservedEntries entries = entries_of(rows, cols, row, col, value);
        std::vector<MethodScore> scores;
        {
          const Unlocked unlocked;
          scores = evaluate(entries, methods, protocol);
        }
        return scores_of(scores);
      },
      py::arg("rows"), py::arg("cols"), py::arg("row"), py::arg("col"), py::arg("value"), py::kw_only(),
      py::arg("methods"), py::arg("kind"), py::arg("split"), py::arg("repeat"), py::arg("folds"),
      py::arg("times"), py::arg("places"), py::arg("relevant"), py::arg("seed"), py::arg("threads"));

  m.def(
      "complete_structured",
      [](Index rows, Index cols, const Ints& row, const Ints& col, const Floats& value, const Atoms& left,
         const Atoms& right, const std::string& loss, const std::optional<Floats>& entry_weights,
         const std::string& weights, const std::string& regularization, bool offsets, bool choose,
         std::optional<Index> max_rank, const std::vector<int>& corrections, int polish,
         double polish_tolerance, double validation, const Bounds& range, std::uint64_t seed, int threads,
         std::optional<double> time_limit, const py::object& callback, const py::object& checkpoint) {
        StructuredOptions options;
        options.left = left;
        options.right = right;
        options.loss = parse_loss(loss);
        if (entry_weights)
          options.entry_weights = {entry_weights->data(), std::size_t(entry_weights->size())};
        options.weights = parse_weight_rule(weights);
        options.regularization = parse_regularization(regularization);
        options.offsets = offsets;
        options.choose = choose;
        options.corrections = corrections;
        options.polish = polish;
        options.max_rank = max_rank ? *max_rank : usual_rank(options, rows, cols);
        options.polish_tolerance = polish_tolerance;
        options.validation = validation;
        options.range = range_of(range);
        options.seed = seed;
        options.threads = threads;
        options.time_limit = time_limit.value_or(std::numeric_limits<double>::infinity());
        options.checkpoints = checkpoints_from(checkpoint);
        return watched(entries_of(rows, cols, row, col, value), options, complete_structured, callback);
      },
      py::arg("rows"), py::arg("cols"), py::arg("row"), py::arg("col"), py::arg("value"), py::kw_only(),
      py::arg("left"), py::arg("right"), py::arg("loss"), py::arg("entry_weights"), py::arg("weights"),
      py::arg("regularization"), py::arg("offsets"), py::arg("choose"), py::arg("max_rank"),
      py::arg("corrections"), py::arg("polish"), py::arg("polish_tolerance"), py::arg("validation"),
      py::arg("range"), py::arg("seed"), py::arg("threads"), py::arg("time_limit"), py::arg("callback"),
      py::arg("checkpoint") = py::none());
}

}  // namespace pursuit::python
