#pragma once
#include "pursuit/base/types.hpp"

namespace pursuit {

/// Rotation of the columns of L that maximises the variance of their squared entries (Kaiser 1958), from a
/// given one.
Matrix varimax_rotation(const Matrix& L, Matrix rotation, int threads = 1);

}  // namespace pursuit
