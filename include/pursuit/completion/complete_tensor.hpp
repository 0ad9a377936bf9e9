#pragma once
// Completion of arrays: Algorithm 2 on the entries that are known, a set for every mode, under any loss, as
// many atoms as predict entries held back best; of self-tuned free factors then the mean of several models'
// atoms.
//
//   auto result = pursuit::complete_tensor(data, AtomSets({nonneg(), nonneg(), nonneg()}, {0, 1, 2}), {});
//   pursuit::predict(result.model, places)

#include <vector>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/correction/regularization.hpp"
#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit {

/// What a completed array is known by.
struct TensorModel {
  Expansion atoms;
  Loss loss = {};
  OwnTerms own_terms = {};  // offsets, and what the loss has fitted beside the atoms
};

struct TensorCompletionOptions {
  Index rank = 0;  // that many atoms; 0: chosen by entries that are held back
  Index max_rank = 50;
  WeightRule weights = {};
  Loss loss = {};
  bool offsets = false;  // a number for every place along every mode
  /// Of squares alone; other losses are not regularised.
  Regularization regularization = {};
  bool or_none = false;  // or none, where the rank is chosen and entries held back are predicted better so
  int corrections = 3;   // sweeps after every atom of regularised squares; else until they settle
  int polish = 500;      // at most so many sweeps to settle in
  double polish_tolerance = 1e-5;  // settled: a sweep lowers f by no more than this share
  double validation = 0.1;         // share of the entries that decides, at most 30000 of them
  int restarts = 4;
  std::uint64_t seed = 0;
  int threads = 1;
  double time_limit = std::numeric_limits<double>::infinity();
  Observer observer = {};
  CheckpointsPtr checkpoints = {};  // where the state of the run is kept
};

struct TensorCompletion {
  TensorModel model;
  std::vector<CompletionStage> path;  // validation: RMSE; of other losses than squares the mean deviance
  Trace trace;                        // of the last run, with all entries
  double objective = 0, null_objective = 0;
  Regularization regularization = {};  // that was taken
  Stop stop = Stop::rank_reached;
  double seconds = 0;
};

/// InvalidInput and InvalidArgument as for make_objective and factor_tensor.
TensorCompletion complete_tensor(ObservedTensor data, const AtomSets& sets,
                                 const TensorCompletionOptions& options);

/// What a model says of the entries at these places: means, in the units of the data.
Vector predict(const TensorModel& model, const std::vector<std::vector<int>>& places);

struct TensorAccuracy {
  Index count = 0;
  double rmse = 0, mae = 0, deviance = 0;  // means over the entries, by their weights
};
TensorAccuracy accuracy(const TensorModel& model, const ObservedTensor& data);

/// A random share of the entries, which leave `data`; which ones depends on the seed and on their places
/// alone. `most`: at most so many. Entries that differ in the order of indices alone, along modes of the same
/// panel, go together.
ObservedTensor hold_back(ObservedTensor& data, double share, Index most, std::uint64_t seed,
                         const std::vector<Index>& panel_of_mode = {});

}  // namespace pursuit
