#include "consensus.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "interpreter.hpp"
#include "pursuit/algorithms/consensus.hpp"
#include "pursuit/algorithms/count_columns.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

py::dict answer_of(const Consensus& found) {
  py::dict out;
  out["left"] = Matrix(found.model.left());
  out["right"] = Matrix(found.model.right());
  out["weights"] = found.model.weights;
  out["usages"] = found.usages();
  out["stability"] = found.stability;
  out["members"] = found.members;
  out["silhouette"] = found.silhouette;
  out["kept"] = found.kept;
  out["density"] = found.density;
  out["part_of"] = found.part_of;
  out["errors"] = found.errors;
  out["relative_error"] = found.relative_error;
  out["objective"] = found.objective;
  out["null_objective"] = found.null_objective;
  out["seconds"] = found.seconds;
  return out;
}

}  // namespace

void bind_consensus(py::module_& m) {
  m.def(
      "consensus",
      [](const py::object& X, const std::vector<Index>& ranks, int seeds, const std::string& loss,
         double density, double neighbours, int sweeps, double tolerance, std::uint64_t seed, int threads,
         const py::object& callback) {
        const ArrayData data = data_of(X, threads);
        Watch watch(callback);
        ConsensusOptions options{.seeds = seeds,
                                 .loss = parse_loss(loss),
                                 .density = density,
                                 .neighbours = neighbours,
                                 .polish = sweeps,
                                 .polish_tolerance = tolerance,
                                 .seed = seed,
                                 .threads = threads};
        constexpr int kSteps = 1000;
        options.watch = [observer = watch.observer()](double share, const std::string&) {
          return observer({.sweep = int(share * kSteps), .max_sweeps = kSteps});
        };
        ConsensusChoice choice;
        {
          const Unlocked unlocked;
          choice = choose_consensus(data.matrix, ranks, options);
        }
        const bool interrupted = choice.ranks.back().interrupted || choice.ranks.size() < ranks.size();
        py::dict out = watch.answer(interrupted ? Stop::interrupted : Stop::rank_reached);
        py::list found;
        for (const Consensus& each : choice.ranks) found.append(answer_of(each));
        out["ranks"] = found;
        out["chosen"] = choice.chosen;
        out["reason"] = choice.reason;
        return out;
      },
      py::arg("X"), py::kw_only(), py::arg("ranks"), py::arg("seeds"), py::arg("loss"), py::arg("density"),
      py::arg("neighbours"), py::arg("sweeps"), py::arg("tolerance"), py::arg("seed"), py::arg("threads"),
      py::arg("callback"));

  m.def(
      "most_variable_columns",
      [](const py::object& X, Index count) {
        const ArrayData data = data_of(X, 1);
        const Unlocked unlocked;
        return most_variable_columns(*data.matrix, count);
      },
      py::arg("X"), py::arg("count"));

  m.def(
      "column_profiles",
      [](const py::object& X, const Matrix& usages, int threads) {
        const ArrayData data = data_of(X, threads);
        ColumnProfiles profiles;
        {
          const Unlocked unlocked;
          profiles = column_profiles(*data.matrix, usages, threads);
        }
        return py::make_tuple(std::move(profiles.per_million), std::move(profiles.scores));
      },
      py::arg("X"), py::arg("usages"), py::arg("threads"));
}

}  // namespace pursuit::python
