#pragma once
// What `complete` and `predict` do with arrays of any number of modes, and `factor` where an array has a
// loss, weights of entries or offsets.

#include <string>
#include <vector>

#include "apps/session.hpp"
#include "pursuit/completion/complete_tensor.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit::app {

struct CompleteTensorCommand {
  CommonOptions common;
  TensorCompletionOptions options;
  std::string input, modes, symmetric_modes, weights, loss, entry_weights, test, out, plot;
  std::string regularize;  // empty: what goes with the loss and the modes
  double holdout = 0;
};
int run_complete_tensor(const CompleteTensorCommand& command);

struct FactorTensorLossCommand {
  CommonOptions common;
  FactorOptions options;
  std::string input, modes, symmetric_modes, start, weights, loss, entry_weights, out, plot;
};
int run_factor_tensor_loss(const FactorTensorLossCommand& command);

/// PLACES: a table with a row for every entry and its ids in the columns; where the model has no names, its
/// indices, counted from 1.
int run_predict_tensor(const ModelFile& file, const std::string& places, const std::string& out,
                       const CommonOptions& common);

}  // namespace pursuit::app
