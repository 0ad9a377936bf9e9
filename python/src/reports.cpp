#include "reports.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "interpreter.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/report/report_page.hpp"
#include "pursuit_options.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

namespace fs = std::filesystem;

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
}

}  // namespace pursuit::python
