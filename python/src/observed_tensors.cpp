#include "observed_tensors.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <string>

#include "interpreter.hpp"
#include "own_terms.hpp"
#include "pursuit/algorithms/factor_observed_tensor.hpp"
#include "pursuit/completion/complete_tensor.hpp"
#include "pursuit_options.hpp"
#include "traces.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

void set_factors(py::dict& out, Expansion model) {
  py::list factors;
  for (Index mode = 0; mode < model.factors.modes(); ++mode) factors.append(py::cast(model.factors[mode]));
  out["factors"] = factors;
  out["weights"] = std::move(model.weights);
}

double share_left(double objective, double null_objective) {
  return null_objective > 0 ? std::sqrt(objective / null_objective) : 0.0;
}

}  // namespace

void bind_observed_tensors(py::module_& m) {
  py::class_<TensorEntriesGiven>(m, "TensorEntries");
  m.def(
      "tensor_entries",
      [](std::vector<std::vector<int>> index, std::vector<double> value, std::vector<double> weights,
         std::vector<Index> shape, bool others_are_zero) {
        return TensorEntriesGiven{std::move(index), std::move(value), std::move(weights), std::move(shape),
                                  others_are_zero};
      },
      py::arg("index"), py::arg("value"), py::arg("weights"), py::arg("shape"), py::arg("others_are_zero"));
  m.def(
      "factor_observed_tensor",
      [](const TensorEntriesGiven& data, const std::vector<Atoms>& atoms,
         const std::vector<Index>& panel_of_mode, const py::dict& pursuit, const std::string& loss,
         bool offsets, bool all_at_once, const py::object& callback) {
        FactorOptions options = pursuit_options(pursuit);
        options.loss = parse_loss(loss);
        options.offsets = offsets;
        options.start = all_at_once ? Start::leading : Start::greedy;
        Watch watch(callback);
        options.observer = watch.observer();
        FactorResult result;
        {
          const Unlocked unlocked;
          result = factor_tensor(data.observed(), AtomSets(atoms, panel_of_mode), options);
        }
        py::dict out = watch.answer(result.stop);
        set_factors(out, std::move(result.model));
        set_own_terms(out, std::move(result.own_terms));
        out["trace"] = columns_of(result.trace);
        out["relative_error"] = result.relative_error;
        out["seconds"] = result.seconds;
        return out;
      },
      py::arg("data"), py::kw_only(), py::arg("atoms"), py::arg("panel_of_mode"), py::arg("pursuit"),
      py::arg("loss"), py::arg("offsets"), py::arg("all_at_once"), py::arg("callback"));
  m.def(
      "complete_tensor",
      [](const TensorEntriesGiven& data, const std::vector<Atoms>& atoms,
         const std::vector<Index>& panel_of_mode, const py::dict& pursuit, const std::string& loss,
         bool offsets, const std::string& regularize, double validation, const py::object& callback) {
        const FactorOptions given = pursuit_options(pursuit);
        TensorCompletionOptions options;
        options.rank = given.rank;
        options.weights = given.weights;
        options.loss = parse_loss(loss);
        options.offsets = offsets;
        options.regularization = parse_regularization(regularize);
        options.polish = given.polish;
        options.polish_tolerance = given.polish_tolerance;
        options.validation = validation;
        options.restarts = given.restarts;
        options.seed = given.seed;
        options.threads = given.threads;
        options.time_limit = given.time_limit;
        options.checkpoints = given.checkpoints;
        Watch watch(callback);
        options.observer = watch.observer();
        TensorCompletion result;
        {
          const Unlocked unlocked;
          result = complete_tensor(data.observed(), AtomSets(atoms, panel_of_mode), options);
        }
        py::dict out = watch.answer(result.stop);
        set_factors(out, std::move(result.model.atoms));
        set_own_terms(out, std::move(result.model.own_terms));
        std::vector<Index> ranks;
        std::vector<double> errors;
        for (const CompletionStage& stage : result.path) {
          if (!std::isfinite(stage.validation)) continue;
          ranks.push_back(stage.rank);
          errors.push_back(stage.validation);
        }
        out["ranks"] = ranks;
        out["validation"] = errors;
        out["trace"] = columns_of(result.trace);
        out["relative_error"] = share_left(result.objective, result.null_objective);
        out["seconds"] = result.seconds;
        return out;
      },
      py::arg("data"), py::kw_only(), py::arg("atoms"), py::arg("panel_of_mode"), py::arg("pursuit"),
      py::arg("loss"), py::arg("offsets"), py::arg("regularize"), py::arg("validation"), py::arg("callback"));
  m.def(
      "predict_tensor",
      [](const std::vector<Panel>& factors, const Vector& weights, const std::string& loss,
         const py::dict& terms, const std::vector<std::vector<int>>& places) {
        std::vector<Index> panel_of;
        for (Index mode = 0; mode < Index(factors.size()); ++mode) panel_of.push_back(mode);
        return predict(
            TensorModel{{Factors(factors, panel_of), weights}, parse_loss(loss), own_terms_of(terms)},
            places);
      },
      py::arg("factors"), py::arg("weights"), py::arg("loss"), py::arg("terms"), py::arg("places"));
}

}  // namespace pursuit::python
