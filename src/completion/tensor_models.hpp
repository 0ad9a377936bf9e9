#pragma once
// Several models of an array with gaps, of free factors that are self-tuned, and their mean.

#include <vector>

#include "pursuit/base/run.hpp"
#include "pursuit/completion/complete_tensor.hpp"

namespace pursuit {

/// More entries held back would not make a choice any surer.
constexpr Index kMostEntriesHeldBack = 30000;

struct MeanOfModels {
  Expansion atoms;                    // those of all, each with its share of the weight
  std::vector<CompletionStage> path;  // means over the models that got so far
  int sweeps = 0;
  double weight = 0, squares = 0;  // of all entries: how much they count, and the sum of their squares
};

/// Each model begins elsewhere, holds back entries of its own to choose its number of atoms by, and takes
/// them up again then: what one has made of the noise the others have not. A checkpoint is between two of
/// them.
MeanOfModels mean_of_models(const ObservedTensor& data, const TensorCompletionOptions& options, Run& run);

}  // namespace pursuit
