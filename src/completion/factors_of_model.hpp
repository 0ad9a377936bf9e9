#pragma once
// What a run keeps of its factors: the coordinates that are in use, as parts of a CompletionModel.

#include <optional>

#include "completion/bayesian_factors.hpp"
#include "completion/scaled_features.hpp"

namespace pursuit {

/// Offset first, then atoms by what they explain.
std::vector<int> used_coordinates(const BayesianFactors& factors);

CompletionSide side_of_model(const FactorSide& side, const std::vector<int>& coordinates, bool use_pattern,
                             const std::optional<ScaledFeatures>& features);

/// All coordinates of a draw.
CompletionSample sample_of(const BayesianFactors& factors);

}  // namespace pursuit
