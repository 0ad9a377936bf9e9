#pragma once
// The options that every pursuit has, as `pursuit._pursuit_options` gives them.

#include <pybind11/pybind11.h>

#include "pursuit/algorithms/factor.hpp"

namespace pursuit::python {

/// TypeError where one is missing or not what it should be.
FactorOptions pursuit_options(const pybind11::dict& given);

/// Seconds, or None.
double seconds_or_forever(const pybind11::object& limit);

}  // namespace pursuit::python
