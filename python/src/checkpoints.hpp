#pragma once
#include <pybind11/pybind11.h>

#include "pursuit/base/checkpoints.hpp"

namespace pursuit::python {

/// Of `checkpoint=`: None, or the name of a file and how often it is written, as `pursuit._checkpoints` gives
/// them. A run goes on from the file where it is there.
CheckpointsPtr checkpoints_from(const pybind11::object& given);

}  // namespace pursuit::python
