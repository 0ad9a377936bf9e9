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

Run::Run(const RunLimits& limits, Observer observer, Agreement agreement, CheckpointsPtr checkpoints)
    : limits_(limits),
      observer_(std::move(observer)),
      agreement_(std::move(agreement)),
      checkpoints_(std::move(checkpoints)) {
  if (!(limits.time_limit > 0))
    throw InvalidArgument(fmt::format("time_limit {}: must be above 0 seconds", limits.time_limit));
}

Run::Run(Run& outer, Observer observer)
    : observer_(std::move(observer)), checkpoints_(outer.checkpoints_), outer_(&outer) {
  keep_state();
}

void Run::begin_checkpoints(const Identity& identity) {
  if (!checkpoints_) return;
  checkpoints_->begin(identity);
  seconds_before_ = checkpoints_->seconds_before();
  keep_state();
}

/// An end of its own is part of the state; being stopped is not.
void Run::keep_state() {
  kept_ =
      std::make_unique<Kept>(checkpoints_.get(), outer_ ? "inner_end" : "end", [this](StateArchive& archive) {
        bool ended = stopped_ ? ended_before_stop_ : finished_;
        archive("ended", ended);
        archive("reason", reason_, 0, Index(Stop::interrupted));
        if (archive.reads()) finished_ = ended;
      });
}

bool Run::step_done(const Moment& moment) {
  const bool left_before = is_left(), on = asks(moment);
  if (checkpoints_ && (on || (is_left() && !left_before)))
    checkpoints_->step((outer_ ? *outer_ : *this).seconds(), !on);
  return on;
}

bool Run::is_left() const {
  if (outer_) return outer_->is_left();
  return stopped_ && (stopped_by_ == Stop::time_limit || stopped_by_ == Stop::interrupted);
}

bool Run::go_on(const Moment& moment) {
  return asks(moment) || leave();
}

bool Run::asks(const Moment& moment) {
  if (stopped_) return false;
  // An iteration is about all atoms at once: there is no result yet that could be good enough.
  const bool reached =
      moment.phase != Moment::Phase::iteration && moment.relative_error <= limits_.target_error;
  if (reached) return stop_by(Stop::target_error);
  if (std::isfinite(limits_.time_limit) && agreed(seconds() >= limits_.time_limit))
    return stop_by(Stop::time_limit);
  return watched(moment);
}

bool Run::tell(const Moment& moment) {
  return (!stopped_ && watched(moment)) || leave();
}

bool Run::watched(Moment moment) {
  if (observer_) moment.seconds = seconds();
  return !agreed(observer_ && !observer_(moment)) || stop_by(Stop::interrupted);
}

bool Run::leave() {
  if (checkpoints_ && !outer_ && is_left()) checkpoints_->leave();
  return false;
}

void Run::finish(Stop reason) {
  finished_ = true;
  if (!stopped_) reason_ = reason;
}

bool Run::agreed(bool wanted) const {
  return agreement_ ? agreement_(wanted) : wanted;
}

bool Run::stop_by(Stop reason) {
  ended_before_stop_ = finished_;
  finished_ = stopped_ = true;
  stopped_by_ = reason;
  return false;
}

}  // namespace pursuit
