#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// What is asked of a completed matrix: lists, likeness, reasons, vectors; and factors as one.
void bind_serving(pybind11::module_& m);

}  // namespace pursuit::python
