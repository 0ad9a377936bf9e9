#pragma once
#include <pybind11/pybind11.h>

#include <vector>

#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit::python {

/// Entries of an array, as Python has them.
struct TensorEntriesGiven {
  std::vector<std::vector<int>> index;
  std::vector<double> value, weights;
  std::vector<Index> shape;
  bool others_are_zero;

  ObservedTensor observed() const { return {{shape, index, value}, weights, others_are_zero}; }
};

/// Arrays with gaps, weights and losses.
void bind_observed_tensors(pybind11::module_& m);

}  // namespace pursuit::python
