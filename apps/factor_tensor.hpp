#pragma once
// What `factor` does with an array of three and more modes.

#include <string>
#include <vector>

#include "apps/session.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"

namespace pursuit::app {

/// What is said about arrays alone.
struct TensorInput {
  std::string modes, symmetric_modes;
  std::vector<std::string> fix_mode;  // a mode and a file, and so on
  TensorOptions options;

  bool given() const;             // more than the modes
  bool given_of_squares() const;  // what goes with plain squares over full arrays alone
};
void add_tensor_options(Command& command, TensorInput& input);

struct TensorCommand {
  CommonOptions common;
  FactorOptions options;
  TensorInput tensor;
  std::string input, start, weights, out, plot;
};

int run_tensor(const TensorCommand& command);

}  // namespace pursuit::app
