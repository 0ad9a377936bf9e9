#pragma once
// Places of arrays: what a model says of them, and random numbers that belong to them.

#include <cstdint>
#include <vector>

#include "pursuit/completion/complete_tensor.hpp"

namespace pursuit {

/// Sums of atoms and offsets at these places: what a model predicts before the link of its loss.
Vector predictors_at(const TensorModel& model, const std::vector<std::vector<int>>& places);

/// The same for the same place, in whatever list it stands.
std::uint64_t random_key(std::uint64_t start, const std::vector<int>& place);

}  // namespace pursuit
