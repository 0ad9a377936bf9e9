#pragma once
// Squares whose rows and columns have weights are plain squares of other data,
//
//   sum_ij w_i v_j (y_ij - x_ij)^2 = || D Y E - D X E ||^2 ,     D = diag(w)^1/2,  E = diag(v)^1/2,
//
// for sets whose members times D (or E) are multiples of members.

#include "pursuit/algorithms/factor.hpp"

namespace pursuit {

/// D Y E; null where weights are none of rows and columns alone, or not what they should be, where the loss
/// is another one, where sets or known atoms would not stay what they are, and where Y is known by its
/// products alone.
DataMatrixPtr weighted_squares(const DataMatrix& Y, const FactorOptions& options);

/// The atoms of Y, from those of D Y E. A row or column without weight has none.
void undo_weights(const EntryWeights& weights, Expansion& model);

}  // namespace pursuit
