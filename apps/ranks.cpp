#include "apps/ranks.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "pursuit/base/error.hpp"

namespace pursuit::app {
namespace {

/// How a launcher tells its processes how many they are, and which.
struct Launcher {
  const char *name, *size, *rank;
};
constexpr Launcher kLaunchers[] = {{"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"MPI", "PMI_SIZE", "PMI_RANK"},
                                   {"Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return text ? text : "";
}

}  // namespace

void require_alone() {
  if (variable("PURSUIT_RANKS") == "apart") return;
  for (const Launcher& launcher : kLaunchers) {
    const std::string_view size = variable(launcher.size);
    if (size.empty() || size == "1") continue;
    if (variable(launcher.rank) != "0") throw AnotherRank();
    throw InvalidArgument(fmt::format(
        "started as {} processes by {}: each would do the whole job and write the same files. Start it "
        "once, which uses all cores of a machine; where every process has a job of its own, set "
        "PURSUIT_RANKS=apart",
        size, launcher.name));
  }
}

}  // namespace pursuit::app
