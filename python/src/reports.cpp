#include "reports.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "interpreter.hpp"
#include "pursuit/completion/choose_rank.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/report/report_page.hpp"
#include "pursuit_options.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

void bind_reports(py::module_& m) {
  m.def(
      "report_page",
      [](const fs::path& path, const std::string& title, Index image_height, Index image_width, bool lines,
         const std::vector<std::string>& labels, Index top, bool brief) {
        const Unlocked unlocked;
        const ReportOptions options{title, image_height, image_width, lines, labels, top, brief};
        return report_page(load_any_model(path), options);
      },
      py::arg("path"), py::kw_only(), py::arg("title"), py::arg("image_height"), py::arg("image_width"),
      py::arg("lines"), py::arg("labels"), py::arg("top"), py::arg("brief") = false);

  m.def("write_file", &write_file_atomically, py::arg("path"), py::arg("text"));

  m.def(
      "choose_rank",
      [](const py::object& X, const std::vector<Index>& ranks, int folds, const py::dict& pursuit,
         const Atoms& left, const Atoms& right, const std::string& loss, bool offsets,
         const Vector& row_scale, const py::object& callback) {
        ChooseOptions options;
        options.ranks = ranks;
        options.folds = folds;
        options.factor = pursuit_options(pursuit);
        options.factor.left = left;
        options.factor.right = right;
        options.factor.loss = parse_loss(loss);
        options.factor.offsets = offsets;
        options.factor.row_scale = row_scale;
        const ArrayData data = data_of(X, options.factor.threads);
        Watch watch(callback);
        constexpr int kSteps = 1000;
        options.watch = [observer = watch.observer()](double share, const std::string&) {
          return observer({.sweep = int(share * kSteps), .max_sweeps = kSteps});
        };
        RankChoice choice;
        {
          const Unlocked unlocked;
          choice = choose_rank(data.matrix, options);
        }
        return answer_of(choice, watch);
      },
      py::arg("X"), py::kw_only(), py::arg("ranks"), py::arg("folds"), py::arg("pursuit"), py::arg("left"),
      py::arg("right"), py::arg("loss"), py::arg("offsets"), py::arg("row_scale"), py::arg("callback"));
}

}  // namespace pursuit::python
