#include <fmt/format.h>

#include <exception>

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
  pursuit recommend model.npz --row 42 --top 10 --exclude-seen
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
    require_shared_work(argc, argv);
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

}  // namespace

int main(int argc, char** argv) {
  using namespace pursuit::app;
  secure_standard_streams();
  int status = success;
  try {
    start_ranks();
    status = run(argc, argv);
  } catch (const AnotherRank&) {
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
  finish_ranks(status);
  return status;
}
