#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// The class `FeatureTable`: what is known about rows or columns beside their entries.
void bind_features(pybind11::module_& m);

}  // namespace pursuit::python
