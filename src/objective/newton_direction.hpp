#pragma once
#include "pursuit/base/types.hpp"

namespace pursuit {

/// argmin over d of 1/2 d^T G d - g^T d from coordinate `first` on, x + d not negative where asked, but for
/// the first `free` coordinates.
Vector newton_direction(const Matrix& G, const Vector& g, Index first, bool nonnegative, const Vector& x,
                        Index free = 0);

}  // namespace pursuit
