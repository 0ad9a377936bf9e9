#pragma once
// What `factor` does with an array of three and more modes.

#include <string>

#include "apps/session.hpp"

namespace pursuit::app {

struct TensorCommand {
  CommonOptions common;
  FactorOptions options;
  std::string input, modes, symmetric_modes, start, weights, out, plot;
};

int run_tensor(const TensorCommand& command);

}  // namespace pursuit::app
