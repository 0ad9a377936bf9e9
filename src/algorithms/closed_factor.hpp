#pragma once
#include "pursuit/algorithms/factor.hpp"

namespace pursuit {

/// factor() where rows of scores are shares (FactorOptions::closure): the left factors of every row are not
/// negative and sum to one, and the size of a part is its weight. Alternates between exact shares and fits of
/// the parts, so that f never rises.
FactorResult factor_closed(const DataMatrixPtr& Y, const FactorOptions& options);

}  // namespace pursuit
