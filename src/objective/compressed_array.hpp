#pragma once
// An array known by its projection onto the leading directions along every mode (Tucker 1966).

#include <vector>

#include "pursuit/base/random.hpp"
#include "pursuit/data/data_matrix.hpp"
#include "pursuit/objective/form.hpp"

namespace pursuit {

/// `unfolded` is the array of this shape as the matrix of its first `split` modes by the others; modes with
/// more indices than `directions` are projected onto so many. Null where that would not be much smaller.
TargetPtr compressed_array(const DataMatrix& unfolded, const std::vector<Index>& shape, Index split,
                           Index directions, double squared_norm, Random& random);

}  // namespace pursuit
