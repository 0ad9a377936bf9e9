#include "model_files.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "own_terms.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/model_file.hpp"
#include "traces.hpp"

namespace pursuit::python {
namespace {

namespace py = pybind11;
using Names = std::vector<std::string>;
using Metadata = std::map<std::string, std::string>;
using std::filesystem::path;

template <class Value>
using List = py::array_t<Value, py::array::c_style | py::array::forcecast>;

using EntryLists = std::tuple<List<std::int64_t>, List<int>, List<float>>;

GroupedEntries grouped(const EntryLists& lists) {
  const auto& [start, index, value] = lists;
  return {{start.data(), start.data() + start.size()},
          {index.data(), index.data() + index.size()},
          {value.data(), value.data() + value.size()}};
}

template <class Value>
py::array array_of(const std::vector<Value>& values) {
  return py::array_t<Value>(py::ssize_t(values.size()), values.data());
}

}  // namespace

void bind_model_files(py::module_& m) {
  m.def(
      "save_model",
      [](const path& file, const Matrix& left, const Matrix& right, const Vector& weights,
         const py::dict& trace, const Names& row_names, const Names& column_names, const Metadata& metadata,
         const Vector& means, const Vector& deviations, const std::string& loss, const py::dict& own_terms,
         const Vector& row_scale) {
        save_model(file, {{left, right, weights},
                          trace_of(trace),
                          row_names,
                          column_names,
                          metadata,
                          means,
                          deviations,
                          parse_loss(loss),
                          own_terms_of(own_terms),
                          row_scale});
      },
      py::arg("path"), py::kw_only(), py::arg("left"), py::arg("right"), py::arg("weights"), py::arg("trace"),
      py::arg("row_names"), py::arg("column_names"), py::arg("metadata"), py::arg("column_means"),
      py::arg("column_deviations"), py::arg("loss") = "squares", py::arg("own_terms") = py::dict(),
      py::arg("row_scale") = Vector(0));

  m.def(
      "save_tensor_model",
      [](const path& file_path, std::vector<Panel> panels, std::vector<Index> panel_of_mode,
         const Vector& weights, const py::dict& trace, const std::vector<Names>& names,
         const Metadata& metadata, const std::string& loss, const py::dict& own_terms) {
        ModelFile file;
        file.model = {Factors(std::move(panels), std::move(panel_of_mode)), weights};
        file.trace = trace_of(trace);
        file.metadata = metadata;
        file.loss = parse_loss(loss);
        file.own_terms = own_terms_of(own_terms);
        if (file.model.factors.modes() > 2) {
          file.mode_names = names;
        } else if (!names.empty()) {
          file.row_names = names[0];
          file.column_names = names[1];
        }
        save_model(file_path, file);
      },
      py::arg("path"), py::kw_only(), py::arg("panels"), py::arg("panel_of_mode"), py::arg("weights"),
      py::arg("trace"), py::arg("names"), py::arg("metadata"), py::arg("loss"), py::arg("own_terms"));

  m.def(
      "load_model",
      [](const path& file_path) {
        ModelFile file = std::get<ModelFile>(load_any_model(file_path));
        const Factors& factors = file.model.factors;
        py::dict out;
        py::list of_modes, panel_of_mode;
        for (Index mode = 0; mode < factors.modes(); ++mode) {
          of_modes.append(py::cast(factors[mode]));
          panel_of_mode.append(factors.panel_of(mode));
        }
        out["factors"] = of_modes;
        out["panel_of_mode"] = panel_of_mode;
        out["names"] =
            factors.modes() > 2 ? file.mode_names : std::vector<Names>{file.row_names, file.column_names};
        out["left"] = factors[0];
        out["right"] = factors[1];
        out["weights"] = std::move(file.model.weights);
        out["trace"] = columns_of(file.trace);
        out["row_names"] = file.row_names;
        out["column_names"] = file.column_names;
        out["column_means"] = std::move(file.column_means);
        out["column_deviations"] = std::move(file.column_deviations);
        out["loss"] = file.loss.spec();
        set_own_terms(out, std::move(file.own_terms));
        out["row_scale"] = std::move(file.row_scale);
        out["metadata"] = file.metadata;
        return out;
      },
      py::arg("path"));

  m.def(
      "save_completion",
      [](const path& file, const CompletionModel& model, const Names& rows, const Names& cols,
         const std::optional<EntryLists>& entries, const std::optional<EntryLists>& held_out,
         const std::optional<FeatureFile>& row_features, const std::optional<FeatureFile>& column_features,
         const Metadata& metadata) {
        CompletionFile out{model, IdTable(rows), IdTable(cols), {}, metadata};
        out.keeps_entries = entries.has_value();
        if (entries) out.seen = grouped(*entries);
        if (entries && held_out) out.held_out = grouped(*held_out);
        out.row_features = row_features;
        out.col_features = column_features;
        save_completion(file, out);
      },
      py::arg("path"), py::kw_only(), py::arg("model"), py::arg("rows"), py::arg("cols"), py::arg("entries"),
      py::arg("held_out"), py::arg("row_features"), py::arg("column_features"), py::arg("metadata"));

  m.def(
      "load_completion",
      [](const path& file_path) {
        CompletionFile file = load_completion(file_path);
        if (!file.keeps_entries) file.seen.start.assign(std::size_t(file.rows.size()) + 1, 0);
        const auto entries = [](const GroupedEntries& seen) {
          py::dict parts;
          parts["start"] = array_of(seen.start);
          parts["index"] = array_of(seen.index);
          parts["value"] = array_of(seen.value);
          return parts;
        };
        py::dict out;
        out["rows"] = file.rows.names();
        out["cols"] = file.cols.names();
        out["seen"] = entries(file.seen);
        out["held_out"] = file.held_out.index.empty() ? py::object(py::none()) : entries(file.held_out);
        out["row_features"] = std::move(file.row_features);
        out["column_features"] = std::move(file.col_features);
        out["keeps_entries"] = file.keeps_entries;
        out["metadata"] = file.metadata;
        out["model"] = std::move(file.model);
        return out;
      },
      py::arg("path"));

  m.def("is_completion_file", &is_completion_file, py::arg("path"));
}

}  // namespace pursuit::python
