#include "apps/checkpoint_options.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/checkpoint_file.hpp"

namespace pursuit::app {

void add_checkpoint_options(Command& command, CheckpointInput& input) {
  command.add_option("--checkpoint", input.checkpoint,
                     "Keep the state of the run in this file, from which --resume goes on");
  command.add_option("--checkpoint-every", input.every,
                     "How often: after so many steps (20) or seconds (90s); 60s unless given");
  command.add_option(
      "--resume", input.resume,
      "Go on from this checkpoint of the same run, and keep the state there unless --checkpoint\n"
      "names another file; the result is that of a run that was never stopped");
}

CheckpointsPtr checkpoints_of(const CheckpointInput& input, std::vector<std::string> outputs,
                              std::vector<std::string> inputs) {
  if (!input.given()) return nullptr;
  if (input.file().empty())
    throw InvalidArgument("--checkpoint-every: goes with --checkpoint FILE or --resume FILE");
  const Checkpoints::Rhythm rhythm = rhythm_of(input.every.empty() ? "60s" : input.every);
  outputs.push_back(input.file());
  if (input.resume != input.file()) inputs.push_back(input.resume);
  prepare_outputs(outputs, inputs);
  return checkpoints_in(input.file(), rhythm, input.resume);
}

void tell_how_to_resume(const CheckpointInput& input) {
  if (!input.given()) return;
  // A resumed run that is stopped before its first step has written nothing; what it came from is still
  // there.
  const std::string& there = std::filesystem::exists(input.file()) ? input.file() : input.resume;
  if (!there.empty()) tell("pursuit: the same command with --resume {} goes on from here\n", there);
}

void refuse_checkpoints(const CheckpointInput& input, const std::string& what) {
  if (input.given())
    throw InvalidArgument(fmt::format("--checkpoint and --resume: {} has no states to go on from", what));
}

}  // namespace pursuit::app
