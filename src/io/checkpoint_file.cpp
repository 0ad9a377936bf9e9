#include "pursuit/io/checkpoint_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "io/defect.hpp"
#include "io/npy.hpp"
#include "io/npz_archive.hpp"
#include "io/npz_entries.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/atomic_file.hpp"

namespace pursuit {

Checkpoints::Rhythm rhythm_of(const std::string& text) {
  const bool seconds = text.ends_with('s');
  const char* end = text.data() + text.size() - (seconds ? 1 : 0);
  Checkpoints::Rhythm rhythm;
  bool good = false;
  if (seconds) {
    const auto [stop, error] = std::from_chars(text.data(), end, rhythm.seconds);
    good = error == std::errc() && stop == end && std::isfinite(rhythm.seconds) && rhythm.seconds >= 0;
  } else {
    const auto [stop, error] = std::from_chars(text.data(), end, rhythm.steps);
    good = error == std::errc() && stop == end && rhythm.steps >= 1;
  }
  if (!good)
    throw InvalidArgument(fmt::format(
        "checkpoint every '{}': must be a number of steps of at least 1, as in 20, or of seconds, as in 90s",
        text));
  return rhythm;
}

void write_checkpoint(const std::filesystem::path& path, const Snapshot& snapshot) {
  write_npz(path, snapshot);
}

Snapshot read_checkpoint(const std::filesystem::path& path) {
  Snapshot snapshot = read_npz(path);
  if (!snapshot.contains("run.format")) io::refuse(path.string(), "not a checkpoint of a run");
  return snapshot;
}

CheckpointsPtr checkpoints_in(const std::filesystem::path& path, const Checkpoints::Rhythm& rhythm,
                              const std::filesystem::path& resumed) {
  Checkpoints::Writer writer;
  if (!path.empty()) {
    require_writable(path);
    writer = [path](const Snapshot& snapshot) { write_checkpoint(path, snapshot); };
  }
  auto checkpoints = std::make_shared<Checkpoints>(rhythm, std::move(writer));
  if (!resumed.empty()) checkpoints->resume(read_checkpoint(resumed), resumed.string());
  return checkpoints;
}

}  // namespace pursuit
