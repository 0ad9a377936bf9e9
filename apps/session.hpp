#pragma once
// What every command shares: where output goes, how a run is watched, and how it ends.

#include <string>

#include "apps/command_line.hpp"
#include "apps/json.hpp"
#include "pursuit/algorithms/factor.hpp"

namespace pursuit::app {

/// Exit statuses, documented in --help.
enum ExitStatus {
  success = 0,
  internal_error = 1,
  bad_usage = 2,
  bad_input = 3,
  cannot_write = 4,
  interrupted = 130  // by Ctrl-C; 128 + its number for another signal
};

/// Options of all commands that compute.
struct CommonOptions {
  bool json = false, dry_run = false;
  int threads = 0;
};
void add_json_option(Command& command, bool& json);
void add_common_options(Command& command, CommonOptions& options);

/// Options of all commands that factor.
void add_pursuit_options(Command& command, FactorOptions& options);

/// An observer that draws a progress bar on a terminal and stops the run on Ctrl-C and the like.
Observer watch(const std::string& title);
/// From now on Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 ask to stop instead of ending the program, unless they are
/// ignored; a second one ends it.
void watch_interrupts();
bool was_interrupted();
int status_of_interrupt();

/// Rank by rank, with the share of the deviance (of squares: of the squared norm) that is explained.
Json describe_path(const Trace& trace);

/// Fields of the JSON object that every factorization has.
Json describe(const FactorResult& result);

std::int64_t peak_memory_bytes();

/// Prints the object alone on stdout.
void print_json(const Json& object);

/// The command line as typed, for the model's metadata.
void remember_command(int argc, char** argv);
const std::string& command_line();

/// All that follow.
void add_commands(Command& program);

// Each adds one command.
void add_factor(Command& program);
void add_pca(Command& program);
void add_omp(Command& program);
void add_completions(Command& program);  // last: it tells of all others
void add_inspect(Command& program);
void add_report(Command& program);
void add_choose(Command& program);
void add_consensus(Command& program);
void add_reconstruct(Command& program);
void add_convert(Command& program);
void add_demo(Command& program);
void add_generate(Command& program);
void add_complete(Command& program);
void add_predict(Command& program);
void add_recommend(Command& program);
void add_similar(Command& program);
void add_serve(Command& program);
void add_evaluate(Command& program);
void add_atoms(Command& program);

}  // namespace pursuit::app
