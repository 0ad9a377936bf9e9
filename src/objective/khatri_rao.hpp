#pragma once
// Products of the factors of several modes, column by column.

#include <vector>

#include "pursuit/linalg/axis.hpp"

namespace pursuit {

/// Column k: the Kronecker product of the k-th columns, the last factor running fastest (Khatri-Rao).
Panel khatri_rao(const std::vector<const Panel*>& factors, int threads);

/// Column k of T is an array whose last index runs fastest. Column k of the result: that array, contracted
/// with the k-th columns of the factors in all modes but `mode`, whose factor is not looked at.
Panel contract_columns(const Panel& T, const std::vector<const Panel*>& factors, Index mode, int threads);

}  // namespace pursuit
