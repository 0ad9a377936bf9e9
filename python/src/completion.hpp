#pragma once
#include <pybind11/pybind11.h>

namespace pursuit::python {

/// The class `CompletionModel`, complete, complete_structured and the files of completed matrices.
void bind_completion(pybind11::module_& m);

}  // namespace pursuit::python
