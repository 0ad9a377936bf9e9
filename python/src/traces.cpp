#include "traces.hpp"

#include <type_traits>

#include "columns.hpp"
#include "pursuit/algorithms/path.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::python {
namespace {

namespace py = pybind11;

/// The fields that Python has; the others are the program's own.
template <class Visit>
void for_each_column(const Visit& visit) {
  visit("rank", &Step::rank);
  visit("objective", &Step::objective);
  visit("relative_error", &Step::relative_error);
  visit("gain", &Step::gain);
  visit("sweeps", &Step::sweeps);
  visit("seconds", &Step::seconds);
  visit("left_support", &Step::left_support);
  visit("right_support", &Step::right_support);
  visit("last_sweep", &Step::last_sweep);
}

}  // namespace

Trace trace_of(const py::dict& columns) {
  Trace trace(columns.contains("rank") ? py::len(columns["rank"]) : 0);
  for_each_column([&](const char* name, auto member) {
    if (trace.empty()) return;
    const auto column = columns[name].cast<py::array_t<double, py::array::c_style | py::array::forcecast>>();
    if (std::size_t(column.size()) != trace.size()) throw InvalidArgument("trace: columns differ in length");
    for (std::size_t i = 0; i < trace.size(); ++i)
      trace[i].*member = std::remove_reference_t<decltype(trace[i].*member)>(column.data()[i]);
  });
  return trace;
}

py::dict columns_of(const Trace& trace) {
  py::dict columns;
  for_each_column([&](const char* name, auto member) { columns[name] = column_of(trace, member); });
  return columns;
}

void bind_traces(py::module_& m) {
  m.def(
      "path_by_rank", [](const py::dict& trace) { return columns_of(path_by_rank(trace_of(trace))); },
      py::arg("trace"), "The last word of a trace on every rank.");
}

}  // namespace pursuit::python
