#pragma once
// What every command shares: where output goes, how a run is watched, and how it ends.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "pursuit/algorithms/path.hpp"

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
  bool json = false;
  int threads = 0;
};
void add_json_option(CLI::App& command, bool& json);
void add_common_options(CLI::App& command, CommonOptions& options);

/// Options of all commands that factor.
void add_pursuit_options(CLI::App& command, FactorOptions& options);

/// An observer that draws a progress bar on a terminal and stops the run on Ctrl-C and the like.
Observer watch(const std::string& title);
/// From now on Ctrl-C, SIGTERM and SIGHUP ask to stop instead of ending the program, unless they are ignored;
/// a second one ends it.
void watch_interrupts();
bool was_interrupted();
int status_of_interrupt();

/// Fields of the JSON object that every factorization has.
nlohmann::json describe(const FactorResult& result);

std::int64_t peak_memory_bytes();

/// Prints the object alone on stdout.
void print_json(const nlohmann::json& object);

/// The command line as typed, for the model's metadata.
void remember_command(int argc, char** argv);
const std::string& command_line();

// Each adds one command; its callback returns the exit status through `status`.
void add_factor(CLI::App& app, int& status);
void add_pca(CLI::App& app, int& status);
void add_omp(CLI::App& app, int& status);
void add_inspect(CLI::App& app, int& status);
void add_reconstruct(CLI::App& app, int& status);
void add_convert(CLI::App& app, int& status);
void add_demo(CLI::App& app, int& status);
void add_generate(CLI::App& app, int& status);
void add_complete(CLI::App& app, int& status);
void add_predict(CLI::App& app, int& status);
void add_recommend(CLI::App& app, int& status);
void add_evaluate(CLI::App& app, int& status);
void add_atoms(CLI::App& app, int& status);

}  // namespace pursuit::app
