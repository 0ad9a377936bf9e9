#pragma once
// Checkpoints of a run as a file: a .npz archive, which appears whole or not at all.

#include <filesystem>

#include "pursuit/base/checkpoints.hpp"

namespace pursuit {

/// "20" is after 20 steps, "90s" after 90 seconds. InvalidArgument for anything else.
Checkpoints::Rhythm rhythm_of(const std::string& text);

/// OutputFailure where it cannot be written.
void write_checkpoint(const std::filesystem::path& path, const Snapshot& snapshot);

/// InvalidInput, naming the file, for one that is not there or is no checkpoint.
Snapshot read_checkpoint(const std::filesystem::path& path);

/// Checkpoints that go to one file and, where `resumed` is not empty, on from another, which may be the same.
/// Both files are looked at now.
CheckpointsPtr checkpoints_in(const std::filesystem::path& path, const Checkpoints::Rhythm& rhythm,
                              const std::filesystem::path& resumed = {});

}  // namespace pursuit
