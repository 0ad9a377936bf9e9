#pragma once
// From rows, as files store them, to Eigen's columns. Copying element by element would touch a new cache line
// for each; a panel of rows at a time fills whole lines.

#include <algorithm>

#include "pursuit/base/types.hpp"

namespace pursuit::io {

/// Fills `matrix` from panel(first_row, row_count), which points to that many rows, one after the other.
template <class Scalar, class Panel>
void fill_from_row_panels(Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& matrix, Panel&& panel) {
  constexpr Index kPanelRows = 16;
  const Index rows = matrix.rows(), columns = matrix.cols();
  for (Index first = 0; first < rows; first += kPanelRows) {
    const Index height = std::min(kPanelRows, rows - first);
    const Scalar* source = panel(first, height);
    for (Index j = 0; j < columns; ++j) {
      Scalar* target = matrix.data() + j * rows + first;
      for (Index i = 0; i < height; ++i) target[i] = source[i * columns + j];
    }
  }
}

}  // namespace pursuit::io
