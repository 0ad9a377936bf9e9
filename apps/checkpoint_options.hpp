#pragma once
// --checkpoint, --checkpoint-every and --resume.

#include <string>
#include <vector>

#include "apps/command_line.hpp"
#include "pursuit/base/checkpoints.hpp"

namespace pursuit::app {

struct CheckpointInput {
  std::string checkpoint, every, resume;

  bool given() const { return !checkpoint.empty() || !every.empty() || !resume.empty(); }
  /// Where states go: on where they came from, unless another place is named.
  const std::string& file() const { return checkpoint.empty() ? resume : checkpoint; }
};

void add_checkpoint_options(Command& command, CheckpointInput& input);

/// Null where they are not asked for. Refuses files that cannot be used, beside the outputs and inputs that
/// the command has; before long work.
CheckpointsPtr checkpoints_of(const CheckpointInput& input, std::vector<std::string> outputs,
                              std::vector<std::string> inputs);

/// Of a run that was stopped: how it goes on.
void tell_how_to_resume(const CheckpointInput& input);

/// InvalidArgument where they are asked for and `what` has none.
void refuse_checkpoints(const CheckpointInput& input, const std::string& what);

}  // namespace pursuit::app
