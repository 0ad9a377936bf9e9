#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

void bind_sparse_codes(pybind11::module_& m);

}  // namespace pursuit::python
