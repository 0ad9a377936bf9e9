#include "apps/ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "apps/console.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/ranked_matrix_file.hpp"

namespace pursuit::app {
namespace {

/// How a launcher tells its processes how many they are, and which.
struct Launcher {
  const char *name, *size, *rank;
};
constexpr Launcher kLaunchers[] = {{"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"MPI", "PMI_SIZE", "PMI_RANK"},
                                   {"Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

constexpr const char* kShared =
    "factor (a matrix, squared error), pca (of samples), complete and evaluate (self-tuned)";
constexpr const char* kOnce =
    "Start it once, which uses all cores of a machine; where every process has a job of its own, set "
    "PURSUIT_RANKS=apart";

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return text ? text : "";
}

/// Set once at the start.
struct {
  std::string launcher = "MPI";
  Ranks* ranks = nullptr;
  std::unique_ptr<RankTeam> team;
  FairShare share{0, false};
} started;

/// libpursuit_mpi.so, beside the program or where libraries are installed; null where there is none.
void* load_mpi(std::string& reason) {
  std::error_code none;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  for (const auto& place : {folder, folder / ".." / PURSUIT_LIBDIR}) {
    const auto file = place / "libpursuit_mpi.so";
    if (!std::filesystem::exists(file, none)) continue;
    if (void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    reason = ::dlerror();
    return nullptr;
  }
  reason =
      "libpursuit_mpi.so, which brings them together, is neither beside the program nor among the libraries";
  return nullptr;
}

Ranks* mpi_ranks(std::string& reason) {
  if (variable("PMIX_RANK").empty()) {
    reason =
        "no MPI that brings them together has started them (mpirun of Open MPI does, and srun --mpi=pmix)";
    return nullptr;
  }
  void* library = load_mpi(reason);
  if (!library) return nullptr;
  const auto start = reinterpret_cast<StartRanks>(::dlsym(library, kStartRanks));
  if (!start) {
    reason = "libpursuit_mpi.so is of another version of the program";
    return nullptr;
  }
  return start(reason);
}

}  // namespace

void start_ranks() {
  if (variable("PURSUIT_RANKS") == "apart") return;
  for (const Launcher& launcher : kLaunchers) {
    const std::string size(variable(launcher.size));
    if (size.empty()) continue;
    started.launcher = launcher.name;
    if (size == "1") {  // the same bits as with more of them
      static OneRank one;
      if (!variable("PMIX_RANK").empty()) started.ranks = &one;
      break;
    }
    std::string reason;
    started.ranks = mpi_ranks(reason);
    if (started.ranks && fmt::format("{}", started.ranks->size()) == size) break;
    if (variable(launcher.rank) != "0") throw AnotherRank();
    throw InvalidArgument(fmt::format(
        "started as {} processes by {}: each would do the whole job and write the same files; {}. {}", size,
        launcher.name, started.ranks ? "MPI knows of another number" : reason, kOnce));
  }
  if (!started.ranks) return;
  started.share = fair_share(*started.ranks);
  if (!started.ranks->leads()) return;
  started.team = std::make_unique<RankTeam>(*started.ranks);
}

bool follows() {
  return started.ranks && !started.ranks->leads();
}

int follow_to_the_end() {
  // The first process decides what a signal means, and needs the others until it has kept what there is.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(signal, SIG_IGN);
  int status = internal_error;
  try {
    status = follow(*started.ranks);
  } catch (const std::bad_alloc&) {
    tell("pursuit: rank {}: not enough memory\n", started.ranks->rank());
    started.ranks->abort(status);
  } catch (const std::exception& error) {
    tell("pursuit: rank {}: {}\n", started.ranks->rank(), error.what());
    started.ranks->abort(status);
  }
  started.ranks->finish();
  return status;
}

RankTeam* rank_team() {
  return started.team.get();
}

int rank_count() {
  return started.ranks ? started.ranks->size() : 1;
}

void require_one_process(bool alone, const std::string& what) {
  if (alone || rank_count() == 1) return;
  throw InvalidArgument(
      fmt::format("started as {} processes by {}: {} not share its work among them yet; {} do. {}",
                  rank_count(), started.launcher, what, kShared, kOnce));
}

void require_shared_work(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  const auto shared = {"factor", "pca", "complete", "evaluate"};
  const bool fine = command.empty() || command.starts_with('-') ||
                    std::find(shared.begin(), shared.end(), command) != shared.end();
  require_one_process(fine, fmt::format("{} does", command));
}

int threads_of_rank() {
  return started.share.threads;
}

void tell_of_ranks(const std::string& input, int threads, Index blocks, bool dealt) {
  if (rank_count() == 1) return;
  tell("pursuit: {} ranks x {} {}\n", rank_count(), threads, threads == 1 ? "thread" : "threads");
  if (started.share.bound_to_one)
    tell(
        "pursuit: warning: ranks are bound to one core each, and there are more; mpirun --bind-to none, or "
        "--map-by socket:PE=8, gives them more\n");
  if (blocks < rank_count())
    tell("pursuit: note: {} is small: {} of {} ranks own rows of it\n", input, blocks, rank_count());
  if (dealt)
    tell("pursuit: note: {} was read by rank 0 and dealt out; dense .npy is read by all ranks at once\n",
         input);
}

void describe_ranks(int threads, Json& object) {
  if (rank_count() == 1) return;
  const RankTraffic& traffic = started.ranks->traffic();
  object.set("ranks", {{"count", rank_count()},
                       {"threads", threads},
                       {"collectives", traffic.collectives},
                       {"bytes_received", traffic.bytes_received}});
}

void finish_ranks(int status) {
  if (!started.team) return;
  if (started.team->broken()) started.ranks->abort(status);
  started.team->dismiss(status);
  started.team.reset();
  started.ranks->finish();
}

}  // namespace pursuit::app
