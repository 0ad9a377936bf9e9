#pragma once
#include <pybind11/pybind11.h>

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit::python {

namespace py = pybind11;

/// The class `Atoms`, parse_atoms and custom_atoms.
void bind_atoms(py::module_& m);

}  // namespace pursuit::python
