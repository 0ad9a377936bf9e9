#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// factor_tensor, and where its arrays are parted.
void bind_tensors(pybind11::module_& m);

}  // namespace pursuit::python
