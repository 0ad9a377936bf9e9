#pragma once
// A completed matrix as a dictionary of arrays and back, for pickle.

#include <pybind11/pybind11.h>

#include "pursuit/completion/model.hpp"

namespace pursuit::python {

pybind11::dict state_of(const CompletionModel& model);
CompletionModel model_of(const pybind11::dict& state);

}  // namespace pursuit::python
