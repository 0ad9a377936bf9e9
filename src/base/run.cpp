#include "pursuit/base/run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "pursuit/base/error.hpp"

namespace pursuit {

const char* name(Moment::Phase phase) {
  switch (phase) {
    case Moment::Phase::atom: return "atom";
    case Moment::Phase::correction: return "correction";
    case Moment::Phase::polish: return "polish";
    case Moment::Phase::iteration: return "iteration";
    case Moment::Phase::growing: return "growing";
    case Moment::Phase::refining: return "refining";
    case Moment::Phase::sampling: return "sampling";
  }
  return "";
}

const char* name(Stop stop) {
  switch (stop) {
    case Stop::rank_reached: return "rank_reached";
    case Stop::target_error: return "target_error";
    case Stop::no_ascent: return "no_ascent";
    case Stop::dependent_atom: return "dependent_atom";
    case Stop::no_gain: return "no_gain";
    case Stop::all_sweeps: return "all_sweeps";
    case Stop::not_converged: return "not_converged";
    case Stop::time_limit: return "time_limit";
    case Stop::interrupted: return "interrupted";
  }
  return "unknown";
}

const char* explanation(Stop stop) {
  switch (stop) {
    case Stop::rank_reached: return "the rank asked for was reached";
    case Stop::target_error: return "the target error was reached";
    case Stop::no_ascent: return "no further atom of these sets lowers the error: more rank would not help";
    case Stop::dependent_atom: return "the best further atom is a combination of those already there";
    case Stop::no_gain: return "more atoms did not predict entries held back any better";
    case Stop::all_sweeps: return "nothing was held back, all sweeps were made";
    case Stop::not_converged: return "the iterations did not settle; the result is the best found by them";
    case Stop::time_limit: return "the time limit was reached; the result is the best found by then";
    case Stop::interrupted: return "the run was interrupted; the result is the best found by then";
  }
  return "";
}

Run::Run(const RunLimits& limits, Observer observer, Agreement agreement)
    : limits_(limits), observer_(std::move(observer)), agreement_(std::move(agreement)) {
  if (!(limits.time_limit > 0))
    throw InvalidArgument(fmt::format("time_limit {}: must be above 0 seconds", limits.time_limit));
}

bool Run::go_on(const Moment& moment) {
  if (stopped_) return false;
  // An iteration is about all atoms at once: there is no result yet that could be good enough.
  const bool reached =
      moment.phase != Moment::Phase::iteration && moment.relative_error <= limits_.target_error;
  if (reached) return stop_by(Stop::target_error);
  if (std::isfinite(limits_.time_limit) && agreed(seconds() >= limits_.time_limit))
    return stop_by(Stop::time_limit);
  return tell(moment);
}

bool Run::tell(Moment moment) {
  if (stopped_) return false;
  if (observer_) moment.seconds = seconds();
  return !agreed(observer_ && !observer_(moment)) || stop_by(Stop::interrupted);
}

void Run::finish(Stop reason) {
  finished_ = true;
  if (!stopped_) reason_ = reason;
}

bool Run::agreed(bool wanted) const {
  return agreement_ ? agreement_(wanted) : wanted;
}

bool Run::stop_by(Stop reason) {
  finish(reason);
  stopped_ = true;
  return false;
}

}  // namespace pursuit
