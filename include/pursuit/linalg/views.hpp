#pragma once
// Matrices in somebody else's memory.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// A dense matrix in somebody else's memory, in either storage order.
template <class Scalar>
struct DenseView {
  const Scalar* data;
  Index rows, cols;
  Index stride;  // between columns, or between rows where row_major
  bool row_major = false;

  DenseView transposed() const { return {data, cols, rows, stride, !row_major}; }
  DenseView row_block(Index first, Index count) const {
    return {data + first * (row_major ? stride : 1), count, cols, stride, row_major};
  }
};

/// A compressed sparse matrix in somebody else's memory: by rows, or by columns where `by_columns`. The
/// entries of row (column) i are start[i] .. start[i + 1] - 1, no place twice, ascending in `index` where
/// they are said to be in order.
template <class Scalar, class StoredIndex>
struct SparseView {
  const StoredIndex *start, *index;
  const Scalar* values;
  Index rows, cols;
  bool by_columns = false;
  bool in_order = true;
};

}  // namespace pursuit
