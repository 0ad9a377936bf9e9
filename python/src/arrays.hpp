#pragma once
// NumPy arrays and SciPy matrices as data matrices, in place.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "pursuit/data/data_matrix.hpp"

namespace pursuit::python {

namespace py = pybind11;

/// A data matrix over the memory of `owner`, which must stay alive (and unchanged) as long as it is used.
struct ArrayData {
  DataMatrixPtr matrix;
  py::object owner;
};

/// Arrays of float32, float64 and whole numbers in C or Fortran order, rows or columns at any distance, and
/// CSR and CSC matrices without duplicates, with 32- or 64-bit indices in any order, are used where they lie.
/// Arrays whose elements lie apart in both directions are copied, and so are whole numbers in a sparse
/// matrix, its indices not. TypeError for anything else.
ArrayData data_of(const py::object& X, int threads);

/// Whether a CSR or CSC matrix stores a place twice, in whatever order.
bool has_duplicates(const py::object& X, int threads);

/// The numbers of a 2-D array as doubles, where they lie if they are doubles already, and what owns them.
struct DoubleView {
  DenseView<double> view;
  py::object owner;
};
DoubleView doubles_of(const py::array& X);

}  // namespace pursuit::python
