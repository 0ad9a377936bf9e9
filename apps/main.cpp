#include <fmt/format.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <chrono>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread>

#include "apps/console.hpp"
#include "apps/memory_limit.hpp"
#include "apps/ranks.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/version.hpp"

namespace {

constexpr const char* kMainExamples = R"(Examples:
  pursuit factor faces.npy --rank 20 --left nonneg --right nonneg --weights nonneg --out parts.npz
  pursuit factor counts.mtx.gz --rank 10 --right sparse:40 --out topics.npz
  pursuit pca expression.csv --components 5 --atoms sparse:300 --out signatures.npz
  pursuit complete ratings.dat --holdout 0.1 --out model.npz
  pursuit recommend model.npz --row 42 --top 10
  pursuit atoms nonneg+unimodal
  pursuit inspect parts.npz
  pursuit report parts.npz --out parts.html
  pursuit demo

Exit status: 0 success, 2 a wrong option, 3 input that cannot be used, 4 output that cannot be written,
1 anything unexpected, 130, 143, 129 or 138 stopped by Ctrl-C, SIGTERM, SIGHUP or SIGUSR1 (the result so
far is kept).)";

int fail(int status, const char* what) {
  pursuit::app::tell("pursuit: {}\n", what);
  return status;
}

int run(int argc, char** argv) {
  using namespace pursuit::app;
  if (follows()) return follow_to_the_end();
  CommandLine program("pursuit: approximate a matrix by a short sum of structured rank-one atoms", "pursuit",
                      pursuit::version());
  Command& commands = program.commands();
  commands.footer(kMainExamples);
  remember_command(argc, argv);
  add_commands(commands);
  try {
    const bool alone = sharing() == Sharing::alone && argc > 1 && argv[1][0] != '-';
    tell_if_alone(alone, alone ? fmt::format("{} does", argv[1]) : "");
    const int status = program.parse(argc, argv)();
    return status == interrupted ? status_of_interrupt() : status;
  } catch (const pursuit::InvalidArgument& error) {
    return fail(bad_usage, error.what());
  } catch (const pursuit::InvalidInput& error) {
    return fail(bad_input, error.what());
  } catch (const pursuit::OutputFailure& error) {
    return fail(cannot_write, error.what());
  }
}

/// Temporaries that come again with every product are kept: given back to the system, their pages would be
/// made anew each time, one after the other where many threads ask.
void keep_freed_memory() {
#ifdef __GLIBC__
  // The bounds that the allocator would move to by itself, once memory of the larger size was freed.
  constexpr int kLargest = 1 << 25, kMostKept = 1 << 26;
  ::mallopt(M_TRIM_THRESHOLD, kMostKept);
  ::mallopt(M_MMAP_THRESHOLD, kLargest);
#endif
}

/// Where memory fails in what must not fail, such as taking a JSON object apart.
[[noreturn]] void end_unexpectedly() {
  try {
    if (const auto current = std::current_exception()) std::rethrow_exception(current);
  } catch (const std::bad_alloc&) {
    pursuit::app::tell_of_memory();
    ::_exit(pursuit::app::internal_error);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pursuit::app;
  std::set_terminate(end_unexpectedly);
  keep_freed_memory();
  secure_standard_streams();
  int status = success;
  try {
    start_ranks(argc, argv);
    status = run(argc, argv);
  } catch (const AnotherRank&) {
    // The first process to go takes the others with it, and rank 0 has something to say.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return bad_usage;
  } catch (const pursuit::InvalidArgument& error) {
    status = fail(bad_usage, error.what());
  } catch (const std::bad_alloc&) {
    tell_of_memory();
    status = internal_error;
  } catch (const std::exception& error) {
    status = fail(internal_error, error.what());
  }
  if (!finish_stdout() && status == success) status = cannot_write;
  return finish_ranks(status);
}
