#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

void bind_penalized(pybind11::module_& m);

}  // namespace pursuit::python
