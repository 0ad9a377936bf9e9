// Factors that pay for their size: non-negative ones by an elastic net, loadings of components by their l1
// norm.

#include "penalized.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "interpreter.hpp"
#include "pursuit/algorithms/l1_components.hpp"
#include "pursuit/base/run.hpp"
#include "pursuit/correction/penalized.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

/// Asks the run after every sweep; the error told is that of the penalised objective.
auto asking(Run& run, Index rank, int max_sweeps, double total) {
  return [=, &run](int sweep, double objective) {
    return run.go_on({.phase = Moment::Phase::polish,
                      .rank = rank,
                      .target_rank = rank,
                      .sweep = sweep,
                      .max_sweeps = max_sweeps,
                      .relative_error = total > 0 ? std::sqrt(objective / total) : 0.0});
  };
}

/// An objective of zero is the end of the sweeps by itself.
RunLimits limits_of(const std::optional<double>& time_limit) {
  return {.time_limit = time_limit.value_or(std::numeric_limits<double>::infinity()), .target_error = -1};
}

struct PenalizedLoss {
  Loss loss = {};
  bool right_stays = false;
};

py::dict penalized_nmf(const py::object& X, Matrix W, Matrix H, const ElasticNet& left,
                       const ElasticNet& right, const PenalizedLoss& by, int sweeps, double tolerance,
                       int threads, const std::optional<double>& time_limit, const py::object& callback) {
  const ArrayData data = data_of(X, threads);
  Watch watch(callback);
  PenalizedFactors factors{Factors(std::move(W), std::move(H))};
  CorrectionOutcome outcome;
  Run run(limits_of(time_limit), watch.observer());
  double null_objective = 0;
  {
    const Unlocked unlocked;
    CorrectionOptions options{.sweeps = sweeps, .tolerance = tolerance, .threads = threads};
    if (by.loss.kind != Loss::squares) {
      const auto f = make_objective(data.matrix, {.loss = by.loss}, threads);
      null_objective = f->null_value();
      options.keep_going = asking(run, factors.factors.count(), sweeps, null_objective);
      outcome = penalized_sweeps(*f, left, right, options, by.right_stays, factors);
    } else {
      const TargetPtr target = matrix_target(data.matrix);
      null_objective = 0.5 * target->squared_norm();
      options.keep_going = asking(run, factors.factors.count(), sweeps, null_objective);
      outcome = penalized_sweeps(*target, left, right, options, factors);
    }
  }
  py::dict out = watch.answer(run.stop());
  out["left"] = std::move(factors.factors[0]);
  out["right"] = std::move(factors.factors[1]);
  out["objective"] = factors.objective;
  out["null_objective"] = null_objective;
  out["sweeps"] = outcome.sweeps;
  out["converged"] = outcome.converged;
  return out;
}

py::dict l1_components_of(const py::object& X, Index components,
                          const std::optional<std::tuple<Matrix, Matrix>>& start, double alpha, int sweeps,
                          double tolerance, int threads, const std::optional<double>& time_limit,
                          const py::object& callback) {
  const ArrayData data = data_of(X, threads);
  Watch watch(callback);
  L1Components result;
  Run run(limits_of(time_limit), watch.observer());
  {
    const Unlocked unlocked;
    L1ComponentOptions options{alpha, sweeps, tolerance, {}};
    options.keep_going =
        asking(run, components, sweeps, 0.5 * data.matrix->squared_norm_about(data.matrix->column_means()));
    result = start ? l1_components(data.matrix, std::get<0>(*start), std::get<1>(*start), options)
                   : l1_components(data.matrix, components, options);
  }
  py::dict out = watch.answer(run.stop());
  out["scores"] = std::move(result.scores);
  out["loadings"] = std::move(result.loadings);
  out["means"] = std::move(result.means);
  out["objective"] = result.objective;
  out["sweeps"] = result.sweeps;
  out["converged"] = result.converged;
  return out;
}

}  // namespace

void bind_penalized(py::module_& m) {
  m.def(
      "penalized_nmf",
      [](const py::object& X, const Matrix& W, const Matrix& H, std::pair<double, double> left,
         std::pair<double, double> right, int sweeps, double tolerance, int threads,
         std::optional<double> time_limit, const py::object& callback, const std::string& loss,
         bool right_stays) {
        return penalized_nmf(X, W, H, {left.first, left.second}, {right.first, right.second},
                             {parse_loss(loss), right_stays}, sweeps, tolerance, threads, time_limit,
                             callback);
      },
      py::arg("X"), py::arg("W"), py::arg("H"), py::kw_only(), py::arg("left"), py::arg("right"),
      py::arg("sweeps"), py::arg("tolerance"), py::arg("threads"), py::arg("time_limit"), py::arg("callback"),
      py::arg("loss") = "squares", py::arg("right_stays") = false);
  m.def("l1_components", &l1_components_of, py::arg("X"), py::kw_only(), py::arg("components"),
        py::arg("start"), py::arg("alpha"), py::arg("sweeps"), py::arg("tolerance"), py::arg("threads"),
        py::arg("time_limit"), py::arg("callback"));
}

}  // namespace pursuit::python
