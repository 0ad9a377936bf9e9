#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// Consensus of non-negative factorizations, and columns of counts.
void bind_consensus(pybind11::module_& m);

}  // namespace pursuit::python
