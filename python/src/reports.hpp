#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// Pages of models, and the choice of a rank.
void bind_reports(pybind11::module_& m);

}  // namespace pursuit::python
