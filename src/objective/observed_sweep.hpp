#pragma once
// A sweep over one side of a matrix of which some entries are known, where entries of factors are free of
// each other: row by row
//
//   1/2 sum over the entries (i, j) of (y_ij - x_i . z_j)^2
//
// goes down by coordinate descent over x_i, optionally >= 0. A row's own Gram matrix of the z_j costs one
// gathered row of Z and rank^2 / 2 multiply-adds per entry; passes over its coordinates then cost no entry.

#include <utility>
#include <vector>

#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// Moves the rows of X, as many as there are groups of entries; Z is the panel of the other mode. Pieces of
/// groups begin at `cuts`; those of `own`, from the first of the pair to before the second, are moved, shared
/// by threads. The squared residual of each where X ends is added to squares[piece].
void observed_sweep(const GroupedEntries& entries, const std::vector<Index>& cuts,
                    std::pair<Index, Index> own, const Panel& Z, const CoordinateSweep& options, Panel& X,
                    double* squares);

}  // namespace pursuit
