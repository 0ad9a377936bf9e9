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
  Sharing sharing = Sharing::led;
} started;

Sharing sharing_of(std::string_view command) {
  const auto is_among = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), command) != names.end();
  };
  if (is_among({"factor", "pca", "complete", "evaluate"})) return Sharing::led;
  return is_among({"predict", "recommend"}) ? Sharing::together : Sharing::alone;
}

/// A rank that was given other arguments would be taken for a part of this job, and its own left undone.
void require_one_job(Ranks& ranks, int argc, char** argv) {
  std::string all;
  for (int i = 1; i < argc; ++i) all += std::string(argv[i]) + '\0';
  const int other = first_that_differs(ranks, all);
  if (other < 0) return;
  if (ranks.leads())
    tell(
        "pursuit: started as {} processes by {} with different arguments (rank {} has others than rank 0): "
        "they "
        "work on one job. {}\n",
        ranks.size(), started.launcher, other, kOnce);
  ranks.finish();  // nobody goes before it is told
  throw AnotherRank();
}

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

/// The first process decides what a signal means, and needs the others until it has kept what there is.
void ignore_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(signal, SIG_IGN);
}

}  // namespace

void start_ranks(int argc, char** argv) {
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
  require_one_job(*started.ranks, argc, argv);
  started.sharing = sharing_of(argc > 1 ? argv[1] : "");
  started.share = fair_share(*started.ranks);
  if (started.sharing == Sharing::alone) started.share.threads = 0;  // the others do nothing
  if (started.sharing == Sharing::together) {
    if (!started.ranks->leads()) {
      ignore_signals();
      be_silent();
    }
    return;
  }
  if (started.ranks->leads()) started.team = std::make_unique<RankTeam>(*started.ranks);
}

Sharing sharing() {
  return started.sharing;
}

Ranks& ranks_together() {
  static OneRank one;
  return started.ranks && started.sharing == Sharing::together ? *started.ranks : one;
}

bool follows() {
  return started.ranks && !started.ranks->leads() && started.sharing != Sharing::together;
}

int follow_to_the_end() {
  ignore_signals();
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

void tell_if_alone(bool alone, const std::string& what) {
  if (!alone || rank_count() == 1) return;
  tell("pursuit: note: {} not share its work: rank 0 of {} does all of it\n", what, rank_count());
}

int threads_of_rank() {
  return started.share.threads;
}

int threads_used(int asked_for) {
  return asked_for > 0 ? asked_for : threads_of_rank();
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
    tell(
        "pursuit: note: {} was read by rank 0 and dealt out; what is not packed of .npy, csr .npz, .csv and "
        "coordinate .mtx is read by all ranks at once\n",
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

int finish_ranks(int status) {
  if (started.ranks && started.sharing == Sharing::together) {
    // What fails otherwise fails on all; this may have been one alone, which others wait for.
    if (status == internal_error) started.ranks->abort(status);
    started.ranks->broadcast(&status, sizeof status);
    started.ranks->finish();
    return status;
  }
  if (!started.team || !started.ranks) return status;
  if (started.team->broken()) started.ranks->abort(status);
  started.team->dismiss(status);
  started.team.reset();
  started.ranks->finish();
  return status;
}

}  // namespace pursuit::app
