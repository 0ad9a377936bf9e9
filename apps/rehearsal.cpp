#include "apps/rehearsal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/console.hpp"
#include "pursuit/base/timer.hpp"

namespace pursuit::app {
namespace {

using Phase = Moment::Phase;

constexpr double kRehearsal = 10;  // seconds

// Sweeps that nobody can count before: what runs on ordinary data took.
constexpr int kPolishSweeps = 40, kStageSweeps = 8, kRefiningSweeps = 20;
constexpr double kSettled = 1e-5;  // share of f that the last sweep of a polish saves

/// The run that is tried; there is one in a process.
struct Rehearsal {
  Timer since_start;
  std::vector<Moment> moments;
  double before = 0;     // seconds until the work began
  bool stopped = false;  // before its end
} rehearsal;

/// Seconds of one sweep of the phase that was last.
double sweep_seconds(const std::vector<Moment>& moments) {
  const Moment& last = moments.back();
  const auto other = std::find_if(moments.rbegin(), moments.rend(), [&](const Moment& each) {
    return each.phase != last.phase || each.rank != last.rank || each.sweep > last.sweep;
  });
  const double start = other == moments.rend() ? 0 : other->seconds;
  return (last.seconds - start) / std::max(1, last.sweep);
}

/// Atoms cost the same each but for the sweeps over those there are: t(r) = a r + b r^2, fitted by least
/// squares to the times at which atoms were there.
double seconds_of_atoms(const std::vector<Moment>& moments, double rank, double& quadratic) {
  double s2 = 0, s3 = 0, s4 = 0, y1 = 0, y2 = 0;
  for (const Moment& each : moments) {
    if (each.phase != Phase::atom) continue;
    const auto r = double(each.rank);
    s2 += r * r, s3 += r * r * r, s4 += r * r * r * r;
    y1 += r * each.seconds, y2 += r * r * each.seconds;
  }
  const double determinant = s2 * s4 - s3 * s3;
  double a = s2 > 0 ? y1 / s2 : 0, b = 0;
  if (determinant > 1e-9 * s2 * s4) {
    a = (y1 * s4 - y2 * s3) / determinant, b = (y2 * s2 - y1 * s3) / determinant;
    if (a < 0) a = 0, b = y2 / s4;
    if (b < 0) a = y1 / s2, b = 0;
  }
  quadratic = b;
  return a * rank + b * rank * rank;
}

/// Sweeps until one saves less than kSettled, as what they save falls like a power of their number.
double sweeps_of_polish(const std::vector<Moment>& moments) {
  const Moment& last = moments.back();
  std::vector<double> objective;
  for (const Moment& each : moments)
    if (each.phase == Phase::polish && each.sweep == int(objective.size()) + 1)
      objective.push_back(each.relative_error * each.relative_error);
  const std::size_t n = objective.size();
  if (n < 5) return std::min(last.max_sweeps, kPolishSweeps);
  const auto saved = [&](std::size_t k) {  // by the sweep, averaged over two
    return std::max(1e-16, (objective[k - 2] - objective[k]) / (2 * std::max(objective[k], 1e-300)));
  };
  const std::size_t middle = n / 2;
  const double late = saved(n - 1), early = saved(middle);
  if (late < kSettled) return double(n);
  const double power =
      std::clamp(std::log(early / late) / std::log(double(n - 1) / double(middle)), 0.5, 6.0);
  return std::min(double(last.max_sweeps), double(n) * std::pow(late / kSettled, 1 / power));
}

/// Of a completion whose rank is still chosen: sweeps cost as much for every atom and offset; stages double.
double rest_of_growing(const std::vector<Moment>& moments, const Job& job) {
  const Moment& last = moments.back();
  const double of_atom = sweep_seconds(moments) / double(last.rank + 1);
  double rest = of_atom * double(last.rank + 1) * std::max(0, kStageSweeps - last.sweep);
  double rank = double(last.rank);
  while (rank < double(job.rank)) {
    rank = std::min(2 * rank + 1, double(job.rank));
    rest += of_atom * (rank + 1) * kStageSweeps;
  }
  return rest + of_atom * (rank + 1) * (kRefiningSweeps + job.draws);
}

std::string size_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.0f} MB", std::max(1.0, bytes / 1e6))
                     : fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string time_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.2g} s", seconds);
  if (seconds < 300) return fmt::format("{:.0f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

/// What is not there yet: factors of atoms to come, the same again while they are moved, and the bytes of the
/// file that is written.
double memory_to_come(const Job& job) {
  const double places = double(std::accumulate(job.shape.begin(), job.shape.end(), Index(0)));
  const Index rank = rehearsal.moments.empty() ? 0 : rehearsal.moments.back().rank;
  const double growing = rehearsal.stopped ? 2.0 * double(std::max<Index>(0, job.rank - rank)) : 0.0;
  return 8 * places * (growing + (job.writes ? double(job.rank) : 0.0));
}

}  // namespace

double forecast_seconds(const std::vector<Moment>& moments, const Job& job) {
  if (moments.empty()) return 0;
  const Moment& last = moments.back();
  const double each = sweep_seconds(moments);
  switch (last.phase) {
    case Phase::atom:
    case Phase::correction: {
      double quadratic = 0;
      const auto rank = double(std::max(last.target_rank, last.rank));
      const double atoms = seconds_of_atoms(moments, rank, quadratic);
      return std::max(last.seconds, atoms + kPolishSweeps * quadratic * rank);
    }
    case Phase::polish: return last.seconds + each * std::max(0.0, sweeps_of_polish(moments) - last.sweep);
    case Phase::iteration:
      return last.seconds + each * std::max(0.2 * last.sweep, double(last.max_sweeps - last.sweep));
    case Phase::growing: return last.seconds + rest_of_growing(moments, job);
    case Phase::refining: return last.seconds + each * (last.max_sweeps - last.sweep + job.draws);
    case Phase::sampling: return last.seconds + each * (last.max_sweeps - last.sweep);
  }
  return last.seconds;
}

void add_dry_run_option(Command& command, CommonOptions& options) {
  command.add_flag(
      "--dry-run", options.dry_run,
      "Write nothing: print rows, columns, entries, and the memory and time that the run will need,\n"
      "from what its first ten seconds needed");
}

Observer observe(const std::string& title, const CommonOptions& options) {
  if (!options.dry_run) return watch(title);
  watch_interrupts();
  rehearsal.before = rehearsal.since_start.seconds();
  return [](const Moment& moment) {
    rehearsal.moments.push_back(moment);
    rehearsal.stopped = moment.seconds > kRehearsal || was_interrupted();
    return !rehearsal.stopped;
  };
}

int tell_forecast(const CommonOptions& options, const Job& job) {
  const double worked = rehearsal.since_start.seconds();
  const double seconds = rehearsal.stopped
                             ? std::max(worked, rehearsal.before + forecast_seconds(rehearsal.moments, job))
                             : worked;
  const double memory = double(peak_memory_bytes()) + memory_to_come(job);
  // Starts of arrays race, and how many sweeps the winner takes then nobody knows.
  const bool at_least = rehearsal.stopped && job.shape.size() > 2;
  if (options.json) {
    print_json({{"dry_run", true},
                {"shape", job.shape},
                {"rows", job.shape[0]},
                {"columns", job.shape[1]},
                {"entries", job.entries},
                {"memory_bytes", std::int64_t(memory)},
                {"seconds", seconds},
                {"measured", !rehearsal.stopped},
                {"at_least", at_least},
                {"rehearsed_seconds", worked}});
  } else {
    say("{}: {}\nentries: {}\nmemory: about {}\ntime: {} {} with {} threads, {}\n",
        job.shape.size() == 2 ? "rows x columns" : "shape", fmt::join(job.shape, " x "), job.entries,
        size_text(memory), at_least ? "at least" : "about", time_text(seconds),
        options.threads == 0 ? "all" : fmt::format("{}", options.threads),
        rehearsal.stopped ? fmt::format("from what the first {:.0f} s came to", worked)
                          : "measured: it was done, but for writing");
  }
  return was_interrupted() ? interrupted : success;
}

}  // namespace pursuit::app
