#pragma once
// The exact search of the spannogram in a plane: the unit c in R^2 for which the k largest positive entries
// of V c have the largest sum of squares.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// V is p x 2, 1 <= k <= p.
Vector best_plane_direction(const Matrix& V, Index k);

}  // namespace pursuit
