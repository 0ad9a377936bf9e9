#pragma once
// `--dry-run`: what a run will need. The input is read and the work begun; what it takes until it is stopped,
// after some seconds, tells what the rest will take. A run that ends before that is known exactly.

#include <vector>

#include "apps/session.hpp"

namespace pursuit::app {

void add_dry_run_option(Command& command, CommonOptions& options);

/// The observer of a run: as watch() makes it, or one that soon stops the run and keeps what it saw.
Observer observe(const std::string& title, const CommonOptions& options);

/// What is known of a job beside how it went.
struct Job {
  std::vector<Index> shape;  // rows, columns and further modes
  Index entries = 0;         // stored
  Index rank = 0;            // at most
  int draws = 0;             // after the fit
  bool writes = false;       // a model
};

/// Prints the forecast instead of a result; the status of the command.
int tell_forecast(const CommonOptions& options, const Job& job);

/// Seconds that a run of these moments will take in all, if it was stopped after the last of them.
double forecast_seconds(const std::vector<Moment>& moments, const Job& job);

}  // namespace pursuit::app
