#pragma once
// The loss of a factorization with what goes with it, as options of a command.

#include <string>
#include <vector>

#include "apps/command_line.hpp"
#include "apps/json.hpp"
#include "pursuit/algorithms/factor.hpp"

namespace pursuit::app {

struct LossInput {
  std::string loss = "squares", entry_weights, row_weights, col_weights, row_scale;
  bool offsets = false;

  std::vector<std::string> files() const;
};
void add_loss_options(Command& command, LossInput& input);

/// The loss alone, before anything is read.
void take_loss(const LossInput& input, FactorOptions& options);
/// What is in files, or follows from the data.
void read_loss_files(const LossInput& input, const DataMatrix& data, FactorOptions& options);

/// Fields of the JSON object: loss, objective, deviance, deviance_explained, and what was fitted.
void describe_loss(const FactorResult& result, const Loss& loss, Json& object);

/// Sums of atoms without negative entries do not reach below zero: legitimate where noise has left some data
/// there, and mostly a mistake where there are many.
void tell_of_negative_entries(const FactorOptions& options, const DataMatrix& data);

}  // namespace pursuit::app
