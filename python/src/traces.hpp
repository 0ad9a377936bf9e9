#pragma once
// Traces as dictionaries of arrays, one per field, and back.

#include <pybind11/pybind11.h>

#include "pursuit/algorithms/trace.hpp"

namespace pursuit::python {

pybind11::dict columns_of(const Trace& trace);
Trace trace_of(const pybind11::dict& columns);
void bind_traces(pybind11::module_& m);

}  // namespace pursuit::python
