#pragma once
#include "pursuit/objective/form.hpp"

namespace pursuit {

/// The matrix that a target is; null where it is none.
const DataMatrix* matrix_of(const Target& target);

}  // namespace pursuit
