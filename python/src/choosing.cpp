#include "choosing.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "interpreter.hpp"
#include "observed_tensors.hpp"
#include "pursuit/completion/choose_rank.hpp"
#include "pursuit_options.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

ChooseOptions options_of(const std::vector<Index>& ranks, int folds, const py::dict& pursuit,
                         const std::string& loss, bool offsets) {
  ChooseOptions options;
  options.ranks = ranks;
  options.folds = folds;
  options.factor = pursuit_options(pursuit);
  options.factor.loss = parse_loss(loss);
  options.factor.offsets = offsets;
  return options;
}

py::dict answer_of(const RankChoice& choice, const Watch& watch) {
  py::dict out = watch.answer(choice.interrupted ? Stop::interrupted : Stop::rank_reached);
  py::list ranks, errors, error, deviation, training, stability;
  for (const RankScore& each : choice.ranks) {
    ranks.append(each.rank);
    errors.append(each.errors);
    error.append(each.error);
    deviation.append(each.deviation);
    training.append(each.training);
    stability.append(each.stability);
  }
  out["rank"] = choice.rank;
  out["best"] = choice.best;
  out["reason"] = choice.reason;
  out["error_name"] = choice.error_name;
  out["ranks"] = ranks;
  out["errors"] = errors;
  out["error"] = error;
  out["standard_error"] = deviation;
  out["training_error"] = training;
  out["stability"] = stability;
  out["seconds"] = choice.seconds;
  return out;
}

/// What choose() finds with these options, watched, and without the interpreter's lock.
template <class Choose>
py::dict chosen(ChooseOptions& options, const py::object& callback, const Choose& choose) {
  Watch watch(callback);
  constexpr int kSteps = 1000;
  options.watch = [observer = watch.observer()](double share, const std::string&) {
    return observer({.sweep = int(share * kSteps), .max_sweeps = kSteps});
  };
  RankChoice choice;
  {
    const Unlocked unlocked;
    choice = choose();
  }
  return answer_of(choice, watch);
}

}  // namespace

void bind_choosing(py::module_& m) {
  m.def(
      "choose_rank",
      [](const py::object& X, const std::vector<Index>& ranks, int folds, const py::dict& pursuit,
         const Atoms& left, const Atoms& right, const std::string& loss, bool offsets,
         const Vector& row_scale, const py::object& callback) {
        ChooseOptions options = options_of(ranks, folds, pursuit, loss, offsets);
        options.factor.left = left;
        options.factor.right = right;
        options.factor.row_scale = row_scale;
        const ArrayData data = data_of(X, options.factor.threads);
        return chosen(options, callback, [&] { return choose_rank(data.matrix, options); });
      },
      py::arg("X"), py::kw_only(), py::arg("ranks"), py::arg("folds"), py::arg("pursuit"), py::arg("left"),
      py::arg("right"), py::arg("loss"), py::arg("offsets"), py::arg("row_scale"), py::arg("callback"));
  m.def(
      "choose_tensor_rank",
      [](const TensorEntriesGiven& data, const std::vector<Atoms>& atoms,
         const std::vector<Index>& panel_of_mode, const std::vector<Index>& ranks, int folds,
         const py::dict& pursuit, const std::string& loss, bool offsets, const py::object& callback) {
        ChooseOptions options = options_of(ranks, folds, pursuit, loss, offsets);
        return chosen(options, callback,
                      [&] { return choose_rank(data.observed(), AtomSets(atoms, panel_of_mode), options); });
      },
      py::arg("data"), py::kw_only(), py::arg("atoms"), py::arg("panel_of_mode"), py::arg("ranks"),
      py::arg("folds"), py::arg("pursuit"), py::arg("loss"), py::arg("offsets"), py::arg("callback"));
}

}  // namespace pursuit::python
