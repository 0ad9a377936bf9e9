#include "apps/session.hpp"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "apps/console.hpp"
#include "apps/ranks.hpp"
#include "pursuit/algorithms/path.hpp"
#include "pursuit/report/progress_bar.hpp"

namespace pursuit::app {
namespace {

volatile std::sig_atomic_t received_signal = 0;
std::string typed_command;  // set once at start-up

extern "C" void on_signal(int signal) {
  // A second one ends the program at once, except that a terminal may say twice that it goes away.
  if (received_signal != 0 && signal != SIGHUP) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  received_signal = signal;
}

/// How much of a run is done, by phases that usually come one after the other: atoms are nine tenths of a
/// pursuit and the polish the rest; choosing the rank is half of a completion.
double fraction_done(const Moment& moment) {
  constexpr double kAtoms = 0.9;
  const double part = double(moment.sweep) / double(moment.max_sweeps);
  switch (moment.phase) {
    case Moment::Phase::atom:
    case Moment::Phase::correction: return kAtoms * double(moment.rank) / double(moment.target_rank);
    case Moment::Phase::polish: return kAtoms + (1 - kAtoms) * part;
    case Moment::Phase::iteration: return kAtoms * (1 - std::exp2(-2 * part));  // they converge when they do
    case Moment::Phase::growing: return 0.5 * (1 - std::exp2(-double(moment.rank) / 15 - part));
    case Moment::Phase::refining: return 0.5 + 0.5 * part;
    case Moment::Phase::sampling: return part;
  }
  return 0;
}

std::string note_on(const Moment& moment) {
  switch (moment.phase) {
    case Moment::Phase::atom:
    case Moment::Phase::correction:
      return fmt::format("atom {}/{}, error {:.5f}", moment.rank, moment.target_rank, moment.relative_error);
    case Moment::Phase::polish:
    case Moment::Phase::iteration:
      return fmt::format("{} {}, error {:.5f}", name(moment.phase), moment.sweep, moment.relative_error);
    case Moment::Phase::growing:
    case Moment::Phase::refining:
    case Moment::Phase::sampling: break;
  }
  std::string note =
      fmt::format("{} {}, {} atoms", moment.phase == Moment::Phase::sampling ? "draw" : "sweep", moment.sweep,
                  moment.rank);
  if (std::isfinite(moment.validation)) note += fmt::format(", validation RMSE {:.4f}", moment.validation);
  return note;
}

}  // namespace

void add_json_option(Command& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON object on standard output and nothing else there");
}

void add_common_options(Command& command, CommonOptions& options) {
  add_json_option(command, options.json);
  options.threads = threads_of_rank();
  command
      .add_option("--threads", options.threads,
                  "Threads to use, at most one per core; 0: all cores; the result does not depend on it")
      .show_default();
}

void add_pursuit_options(Command& command, FactorOptions& options) {
  command.add_option("--corrections", options.corrections, "Sweeps over all atoms after every new one")
      .show_default();
  command.add_option("--correct-last", options.correct_last,
                     "Correct only so many of the newest atoms (default: all)");
  command.add_option("--polish", options.polish, "At most so many sweeps at the end").show_default();
  command
      .add_option("--polish-tolerance", options.polish_tolerance,
                  "The polish ends when a sweep lowers the objective by less than this share")
      .show_default();
  command.add_option("--restarts", options.restarts, "Starts of the power method for every atom")
      .show_default();
  command.add_option("--seed", options.seed, "Seed of the random starts").show_default();
  command.add_option("--target-error", options.target_error, "Stop at this relative error");
  command.add_option("--time-limit", options.time_limit,
                     "Stop after so many seconds and keep the result so far");
}

void watch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // nohup: what is ignored stays ignored
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

bool was_interrupted() {
  return received_signal != 0;
}

int status_of_interrupt() {
  return 128 + received_signal;
}

Observer watch(const std::string& title) {
  watch_interrupts();
  auto bar = std::make_shared<ProgressBar>(title);
  return [bar](const Moment& moment) {
    bar->update(fraction_done(moment), note_on(moment));
    return !was_interrupted();
  };
}

Json describe_path(const Trace& trace) {
  Json path = Json::array();
  for (const Step& step : path_by_rank(trace))
    path.push_back({{"rank", step.rank},
                    {"relative_error", step.relative_error},
                    {"deviance_explained", 1 - step.relative_error * step.relative_error},
                    {"last_sweep", step.last_sweep},
                    {"seconds", step.seconds}});
  return path;
}

Json describe(const FactorResult& result) {
  Json object{{"rank", result.model.rank()},         {"relative_error", result.relative_error},
              {"seconds", result.seconds},           {"stop", name(result.stop)},
              {"path", describe_path(result.trace)}, {"peak_memory_bytes", peak_memory_bytes()}};
  if (result.model.factors.modes() == 2) {  // of more modes, whoever reads the data knows their sizes
    object.set("rows", result.model.left().rows());
    object.set("columns", result.model.right().rows());
  }
  return object;
}

std::int64_t peak_memory_bytes() {
  // Not getrusage(): its peak is inherited from the process that started this one.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

void print_json(const Json& object) {
  say("{}\n", object.text());
}

void remember_command(int argc, char** argv) {
  typed_command = "pursuit";
  for (int i = 1; i < argc; ++i) typed_command += std::string(" ") + argv[i];
}

const std::string& command_line() {
  return typed_command;
}

}  // namespace pursuit::app
