#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// Arrays with gaps, weights and losses.
void bind_observed_tensors(pybind11::module_& m);

}  // namespace pursuit::python
