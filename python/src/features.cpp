#include "features.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

#include "pursuit/base/error.hpp"
#include "pursuit/io/features_file.hpp"

namespace pursuit::python {
namespace {

namespace py = pybind11;

template <class Value>
using Numbers = py::array_t<Value, py::array::c_style | py::array::forcecast>;
using FeatureState =
    std::tuple<Index, std::vector<std::string>, std::vector<int>, std::vector<int>, std::vector<float>>;

FeatureFile features_of(const FeatureState& state) {
  FeatureFile file;
  std::tie(file.table.rows, file.names, file.table.row, file.table.col, file.table.value) = state;
  file.table.cols = Index(file.names.size());
  require_valid(file.table);
  file.is_table = true;
  std::vector<char> spoken_of(std::size_t(file.table.rows), 0);
  for (const int member : file.table.row) spoken_of[std::size_t(member)] = 1;
  file.members = std::count(spoken_of.begin(), spoken_of.end(), 1);
  return file;
}

}  // namespace

void bind_features(py::module_& m) {
  py::class_<FeatureFile>(m, "FeatureTable", "What is known about rows or columns beside their entries.")
      .def_readonly("names", &FeatureFile::names)
      .def_readonly("left_out", &FeatureFile::left_out)
      .def_property_readonly("size", [](const FeatureFile& file) { return file.table.rows; })
      .def("of",
           [](const FeatureFile& file, int member) {
             std::vector<std::pair<int, float>> result;
             for (std::size_t e = 0; e < file.table.row.size(); ++e)
               if (file.table.row[e] == member) result.emplace_back(file.table.col[e], file.table.value[e]);
             return result;
           })
      .def("merged", [](const FeatureFile& old, const FeatureFile& fresh) { return merged(old, fresh); })
      .def(py::pickle(
          [](const FeatureFile& file) {
            return py::make_tuple(file.table.rows, file.names, file.table.row, file.table.col,
                                  file.table.value);
          },
          [](const py::tuple& state) { return features_of(state.cast<FeatureState>()); }));

  m.def(
      "feature_table",
      [](Index members, std::vector<std::string> names, const Numbers<int>& member,
         const Numbers<int>& feature, const Numbers<float>& value) {
        return features_of({members,
                            std::move(names),
                            {member.data(), member.data() + member.size()},
                            {feature.data(), feature.data() + feature.size()},
                            {value.data(), value.data() + value.size()}});
      },
      py::arg("members"), py::arg("names"), py::arg("member"), py::arg("feature"), py::arg("value"));

  m.def(
      "read_features",
      [](const std::string& text, const std::string& name, const std::vector<std::string>& members) {
        IdTable ids(members);
        FeatureFile file = read_features_text(text, name, ids);
        return py::make_tuple(std::move(file), ids.names());
      },
      py::arg("text"), py::arg("name"), py::arg("members"));
}

}  // namespace pursuit::python
