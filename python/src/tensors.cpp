// Arrays of three and more modes.

#include "tensors.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <limits>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "interpreter.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/base/error.hpp"
#include "traces.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

/// A dense array as the matrix of its first modes by the others, or the indices and values of the entries of
/// a sparse one.
struct TensorArray {
  TensorPtr target;
  py::object owner;
};

TensorArray tensor_of(const py::object& X, const std::vector<Index>& shape, int threads) {
  if (!py::isinstance<py::tuple>(X)) {
    const ArrayData data = data_of(X, threads);
    return {dense_tensor(data.matrix, shape), data.owner};
  }
  const auto [index, value] = X.cast<std::pair<std::vector<std::vector<int>>, std::vector<double>>>();
  const Unlocked unlocked;
  return {sparse_tensor({shape, index, value}, threads), {}};
}

}  // namespace

void bind_tensors(py::module_& m) {
  m.def("balanced_split", &balanced_split, py::arg("shape"));
  m.def(
      "factor_tensor",
      [](const py::object& X, const std::vector<Index>& shape, const std::vector<Atoms>& atoms,
         const std::vector<Index>& panel_of_mode, Index rank, const std::string& weights, bool all_at_once,
         int corrections, int polish, double polish_tolerance, int restarts, std::uint64_t seed, int threads,
         double target_error, std::optional<double> time_limit, const py::object& callback) {
        FactorOptions options;
        options.rank = rank;
        options.weights = parse_weight_rule(weights);
        options.start = all_at_once ? Start::leading : Start::greedy;
        options.corrections = corrections;
        options.polish = polish;
        options.polish_tolerance = polish_tolerance;
        options.restarts = restarts;
        options.seed = seed;
        options.threads = threads;
        options.target_error = target_error;
        options.time_limit = time_limit.value_or(std::numeric_limits<double>::infinity());
        const TensorArray tensor = tensor_of(X, shape, threads);
        Watch watch(callback);
        options.observer = watch.observer();
        FactorResult result;
        {
          const Unlocked unlocked;
          result = factor_tensor(tensor.target, AtomSets(atoms, panel_of_mode), options);
        }
        py::dict out = watch.answer(result.stop);
        py::list factors;
        for (Index mode = 0; mode < result.model.factors.modes(); ++mode)
          factors.append(py::cast(result.model.factors[mode]));
        out["factors"] = factors;
        out["weights"] = std::move(result.model.weights);
        out["trace"] = columns_of(result.trace);
        out["relative_error"] = result.relative_error;
        out["seconds"] = result.seconds;
        return out;
      },
      py::arg("X"), py::kw_only(), py::arg("shape"), py::arg("atoms"), py::arg("panel_of_mode"),
      py::arg("rank"), py::arg("weights"), py::arg("all_at_once"), py::arg("corrections"), py::arg("polish"),
      py::arg("polish_tolerance"), py::arg("restarts"), py::arg("seed"), py::arg("threads"),
      py::arg("target_error"), py::arg("time_limit"), py::arg("callback"));
}

}  // namespace pursuit::python
