#pragma once
// A matrix as a file stores it: dense in either order where it lies in memory or in a mapped file, or sparse.

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "io/plain_vector.hpp"
#include "pursuit/base/types.hpp"
#include "pursuit/linalg/views.hpp"

namespace pursuit::io {

template <class Scalar>
struct DenseArray {
  DenseView<Scalar> view;
  std::shared_ptr<const void> owner;  // of the memory that it is a view of
};

using StoredMatrix =
    std::variant<DenseArray<double>, DenseArray<float>, SparseMatrixOf<double>, SparseMatrixOf<float>>;

/// A sparse matrix in its place in a variant, not copied: sparse matrices do not know how to move.
template <class Variant, class Scalar>
Variant holding(SparseMatrixOf<Scalar>& matrix) {
  Variant result(std::in_place_type<SparseMatrixOf<Scalar>>);
  std::get<SparseMatrixOf<Scalar>>(result).swap(matrix);
  return result;
}

/// With the names that the file gave to rows and columns (empty where it gave none).
struct StoredTable {
  StoredMatrix matrix;
  std::vector<std::string> row_names, column_names;
};

/// An array that has just been read.
template <class Scalar>
DenseArray<Scalar> dense_array(PlainVector<Scalar> values, Index rows, Index columns, bool row_major) {
  const auto owner = std::make_shared<PlainVector<Scalar>>(std::move(values));
  return {{owner->data(), rows, columns, row_major ? columns : rows, row_major}, owner};
}

}  // namespace pursuit::io
