#pragma once
// Rows in the atoms of a model that is known: what `transform` is where the loss is not plain squares.

#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

struct RowCoordinates {
  Matrix coordinates;              // a row for every row of the data, a column for every atom
  Vector row_offsets = Vector(0);  // where there are offsets
  double objective = 0, null_objective = 0;
};

/// The best coordinates of every row along the columns of `right`, not negative where asked, with the column
/// offsets, thresholds and size of a model.
RowCoordinates coordinates_of_rows(const DataMatrixPtr& data, const Matrix& right, const LossOptions& options,
                                   const OwnTerms& model, bool nonnegative, int threads = 1);

}  // namespace pursuit
