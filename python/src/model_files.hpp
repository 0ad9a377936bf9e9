#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// Files of factorizations and of completed matrices, the same as the program's.
void bind_model_files(pybind11::module_& m);

}  // namespace pursuit::python
