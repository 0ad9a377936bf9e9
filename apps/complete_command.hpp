#pragma once
// `pursuit complete`: what it can be asked for.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "apps/checkpoint_options.hpp"
#include "apps/session.hpp"
#include "pursuit/completion/structured.hpp"

namespace pursuit::app {

struct CompleteCommand {
  CommonOptions common;
  std::string input, test, preset, left, right, symmetric, weights = "free", regularize = "chosen",
                                                           effort = "default";
  std::string loss = "squares", entry_weights, weight_column, modes, symmetric_modes;
  std::string row_features, col_features, clip = "auto", duplicates, update, out, plot;
  double holdout = 0, validation = 0.1, time_limit = std::numeric_limits<double>::infinity();
  Index rank = -1;
  int samples = -1;
  std::vector<int> corrections;
  std::vector<std::string> columns;
  int max_sweeps = 500;
  double tolerance = StructuredOptions().polish_tolerance;
  bool no_pattern = false, offsets = false, no_offsets = false, no_store_entries = false, implicit = false,
       time = false;
  std::string confidence;
  std::uint64_t seed = 0;
  CheckpointInput checkpoint;
  CheckpointsPtr checkpoints;
};

void add_options(Command& command, CompleteCommand& c);

/// Whether factors of certain atom sets are asked for, not the model that tunes itself.
bool structured(const CompleteCommand& c);

/// Whether offsets may drift in time.
bool has_times(const CompleteCommand& c);

/// InvalidArgument for options that make no sense, alone or together, before anything is read.
void check(const CompleteCommand& c);

}  // namespace pursuit::app
