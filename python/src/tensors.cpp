// Arrays of three and more modes.

#include "tensors.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "interpreter.hpp"
#include "pursuit/algorithms/degeneracy.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit_options.hpp"
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
      "congruence_and_condition",
      [](const std::vector<Panel>& factors, const Vector& weights) {
        std::vector<Index> own(factors.size());
        std::iota(own.begin(), own.end(), Index(0));
        const Degeneracy degeneracy = degeneracy_of({Factors(factors, std::move(own)), weights});
        return std::pair(degeneracy.congruence, degeneracy.condition);
      },
      py::arg("factors"), py::arg("weights"));
  m.def(
      "factor_tensor",
      [](const py::object& X, const std::vector<Index>& shape, const std::vector<Atoms>& atoms,
         const std::vector<Index>& panel_of_mode, const py::dict& pursuit, const std::string& start,
         int starts, double ridge, const std::map<Index, Matrix>& known, const py::object& callback) {
        FactorOptions options = pursuit_options(pursuit);
        options.start = start == "greedy" ? Start::greedy : Start::leading;
        TensorOptions more{.starts = starts, .random = start == "random", .ridge = ridge};
        for (const auto& [mode, factors] : known) more.known.push_back({mode, factors});
        const TensorArray tensor = tensor_of(X, shape, options.threads);
        Watch watch(callback);
        options.observer = watch.observer();
        FactorResult result;
        {
          const Unlocked unlocked;
          result = factor_tensor(tensor.target, AtomSets(atoms, panel_of_mode), options, more);
        }
        py::dict out = watch.answer(result.stop);
        py::list factors;
        for (Index mode = 0; mode < result.model.factors.modes(); ++mode)
          factors.append(py::cast(result.model.factors[mode]));
        out["factors"] = factors;
        const Degeneracy degeneracy = degeneracy_of(result.model);
        out["weights"] = std::move(result.model.weights);
        out["trace"] = columns_of(result.trace);
        out["relative_error"] = result.relative_error;
        out["congruence"] = degeneracy.congruence;
        out["condition"] = degeneracy.condition;
        out["degenerate"] = degeneracy.is_degenerate();
        out["seconds"] = result.seconds;
        return out;
      },
      py::arg("X"), py::kw_only(), py::arg("shape"), py::arg("atoms"), py::arg("panel_of_mode"),
      py::arg("pursuit"), py::arg("start"), py::arg("starts"), py::arg("ridge"), py::arg("known"),
      py::arg("callback"));
}

}  // namespace pursuit::python
