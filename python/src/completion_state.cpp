#include "completion_state.hpp"

#include <fmt/format.h>
#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <type_traits>

#include "pursuit/base/error.hpp"

namespace pursuit::python {
namespace {

namespace py = pybind11;

// One list of members for both directions: visit(name, member).

template <class Side, class Visit>
void for_each_member_of_side(Side& side, const Visit& visit) {
  visit("mean", side.mean);
  visit("variance", side.variance);
  visit("pattern", side.pattern);
  visit("features", side.features);
  visit("intercept", side.intercept);
  visit("prior_variance", side.prior_variance);
  visit("pattern_variance", side.pattern_variance);
  visit("features_variance", side.features_variance);
  visit("noise_weight", side.noise_weight);
  visit("noise_shape", side.noise_shape);
  visit("base_intercept", side.base_intercept);
  visit("base_variance", side.base_variance);
  visit("selection", side.selection);
  visit("unseen", side.unseen);
  visit("nonnegative", side.nonnegative);
}

template <class Sample, class Visit>
void for_each_member_of_sample(Sample& sample, const Visit& visit) {
  visit("rows", sample.rows);
  visit("cols", sample.cols);
  visit("row_noise_weight", sample.row_noise_weight);
  visit("col_noise_weight", sample.col_noise_weight);
  visit("noise_variance", sample.noise_variance);
}

template <class Part, class Visit>
void for_each_member_of_drift(Part& part, const Visit& visit) {
  visit("reach", part.reach);
  visit("ridge", part.ridge);
  visit("start", part.start);
  visit("time", part.time);
  visit("sum", part.sum);
  visit("count", part.count);
}

template <class Drift, class Visit>
void for_each_drift(Drift& drift, const Visit& visit) {
  visit("drift_of_all", drift.all);
  visit("drift_of_rows", drift.rows);
  visit("drift_of_cols", drift.cols);
}

template <class Model, class Visit>
void for_each_plain_member(Model& model, const Visit& visit) {
  visit("mean", model.mean);
  visit("scale", model.scale);
  visit("noise_variance", model.noise_variance);
  visit("lowest", model.lowest);
  visit("highest", model.highest);
  visit("average_rows", model.average_rows);
  visit("average_cols", model.average_cols);
  visit("left", model.atoms.left());
  visit("right", model.atoms.right());
  visit("weights", model.atoms.weights);
  visit("grades", model.own_terms.grades);
  visit("thresholds", model.own_terms.thresholds);
  visit("size", model.own_terms.size);
  visit("newest", model.drift.newest);
}

const auto kWrite = [](py::dict& state) {
  return [&state](const char* name, const auto& member) { state[name] = py::cast(member); };
};
const auto kRead = [](const py::dict& state) {
  return [&state](const char* name, auto& member) {
    if (!state.contains(name)) return;  // what must be there is looked for in the whole
    try {
      member = state[name].template cast<std::remove_reference_t<decltype(member)>>();
    } catch (const py::cast_error&) {
      throw InvalidInput(fmt::format("the state of a completed matrix: '{}' is of the wrong type", name));
    }
  };
};

}  // namespace

py::dict state_of(const CompletionModel& model) {
  py::dict state, rows, cols;
  for_each_plain_member(model, kWrite(state));
  for_each_member_of_side(model.rows, kWrite(rows));
  for_each_member_of_side(model.cols, kWrite(cols));
  py::list samples;
  for (const CompletionSample& sample : model.samples) {
    py::dict each;
    for_each_member_of_sample(sample, kWrite(each));
    samples.append(each);
  }
  state["rows"] = rows;
  state["cols"] = cols;
  state["samples"] = samples;
  state["loss"] = model.loss.spec();
  for_each_drift(model.drift, [&](const char* name, const DriftOf& part) {
    if (!part.is_on()) return;
    py::dict own;
    for_each_member_of_drift(part, kWrite(own));
    state[name] = own;
  });
  if (model.is_implicit())
    state["implicit"] =
        py::make_tuple(model.implicit.zeros, model.implicit.ridge, model.implicit.confidence.spec());
  return state;
}

CompletionModel model_of(const py::dict& state) {
  CompletionModel model;
  for_each_plain_member(model, kRead(state));
  if (state.contains("loss")) {  // early versions had none but squares
    try {
      model.loss = parse_loss(state["loss"].cast<std::string>());
    } catch (const std::exception&) {
      throw InvalidInput("the state of a completed matrix: 'loss' is not the name of one");
    }
  }
  if (state.contains("implicit")) {
    try {
      const auto numbers = state["implicit"].cast<py::tuple>();
      model.implicit = {numbers[0].cast<double>(), numbers[1].cast<double>(),
                        parse_confidence(numbers[2].cast<std::string>())};
    } catch (const std::exception&) {
      throw InvalidInput("the state of a completed matrix: 'implicit' makes no sense");
    }
  }
  for (const char* part : {"rows", "cols", "samples"})
    if (!state.contains(part))
      throw InvalidInput(fmt::format("the state of a completed matrix: '{}' is missing", part));
  const auto rows = state["rows"].cast<py::dict>(), cols = state["cols"].cast<py::dict>();
  for_each_member_of_side(model.rows, kRead(rows));
  for_each_member_of_side(model.cols, kRead(cols));
  for (const py::handle each : state["samples"]) {
    const auto sample_state = each.cast<py::dict>();
    for_each_member_of_sample(model.samples.emplace_back(), kRead(sample_state));
  }
  for_each_drift(model.drift, [&](const char* name, DriftOf& part) {
    if (!state.contains(name)) return;
    const auto own = state[name].cast<py::dict>();
    for_each_member_of_drift(part, kRead(own));
  });
  if (model.rows.mean.size() == 0 && model.atoms.rank() > 0) {  // as early versions kept structured atoms
    model.rows = plain_side(model.atoms.left().rows());
    model.cols = plain_side(model.atoms.right().rows());
  }
  require_sound(model);
  return model;
}

}  // namespace pursuit::python
