#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// How many atoms, of matrices and of arrays.
void bind_choosing(pybind11::module_& m);

}  // namespace pursuit::python
