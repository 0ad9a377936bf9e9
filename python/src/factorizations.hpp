#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// factor, pca, omp and what they need to be called.
void bind_factorizations(pybind11::module_& m);

}  // namespace pursuit::python
