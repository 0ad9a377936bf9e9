#pragma once
// A run: its clock, its limits, who watches it, and why it ended. Whatever iterates (a pursuit, a search for
// components, a completion, Lanczos) tells its run of every moment and asks it whether to go on.

#include <functional>
#include <limits>

#include "pursuit/base/checkpoints.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit {

/// A moment of a run, for progress bars and early stopping.
struct Moment {
  enum class Phase {
    atom,        // one more has been found
    correction,  // a sweep after it
    polish,      // a sweep at the end
    iteration,   // of Lanczos, for all atoms at once
    growing,     // completion: a sweep while the rank is chosen
    refining,    // a sweep with all entries
    sampling,    // a draw
  };
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  Phase phase = Phase::iteration;
  Index rank = 0, target_rank = 0;   // atoms there are and atoms asked for; 0: their number is open
  int sweep = 0, max_sweeps = 0;     // of this phase
  double relative_error = kUnknown;  // ||y - x|| / ||y||
  double noise = kUnknown;           // completion: standard deviation, in units of the data
  double validation = kUnknown;      // completion: RMSE on the entries held back
  double seconds = 0;                // since the start of the run, which fills it in
};
const char* name(Moment::Phase phase);  // "atom", ...

/// Told of every moment; returning false stops the run, which keeps what it has.
using Observer = std::function<bool(const Moment&)>;

/// Why a run ended.
enum class Stop {
  rank_reached,    // as many atoms as asked for; constrained weights may have left some without any, and
                   // dropped
  target_error,    // the relative error asked for is reached
  no_ascent,       // no atom was found along which f falls: the best approximation over the span, or a local
                   // end
  dependent_atom,  // the best atom found lies in the span of the others
  no_gain,         // more atoms did not predict the entries held back any better
  all_sweeps,      // nothing was held back: as many sweeps as are of use
  not_converged,   // an iteration did not settle within the steps it is given; the result is its best
  time_limit,
  interrupted,  // the observer asked to stop
};
const char* name(Stop stop);         // "rank_reached", ...
const char* explanation(Stop stop);  // one sentence for people

struct RunLimits {
  double time_limit = std::numeric_limits<double>::infinity();  // seconds
  double target_error = 0;  // this relative error is good enough; below 0: no error is
};

/// Where several processes work on one run, clocks, observers and signals differ between them: true in all of
/// them where any of them says true.
using Agreement = std::function<bool(bool)>;

class Run {
 public:
  /// InvalidArgument for a time limit that is not above 0.
  explicit Run(const RunLimits& limits = {}, Observer observer = {}, Agreement agreement = {},
               CheckpointsPtr checkpoints = {});
  /// A run inside another one, which has a say in it and keeps its state too.
  Run(Run& outer, Observer observer);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  double seconds() const { return seconds_before_ + timer_.seconds(); }

  /// From now on steps may be kept: it is this run, and no other, that a checkpoint is of.
  void begin_checkpoints(const Identity& identity);
  /// Where the parts of this run keep their states; null where nobody asked for it.
  Checkpoints* checkpoints() const { return checkpoints_.get(); }

  /// Asks target, clock and observer. False where the run is to stop, and from then on.
  bool go_on(const Moment& moment);
  /// The same where a step is done, all states are whole, and a resumed run would go on from here.
  bool step_done(const Moment& moment);
  /// The same of a result that is there already, so that neither target nor clock have a say.
  bool tell(const Moment& moment);

  /// The work has come to an end of its own. The last such reason counts, unless the run was stopped.
  void finish(Stop reason);

  /// By target, clock or observer.
  bool stopped() const { return stopped_; }
  /// That, or come to an end of its own.
  bool finished() const { return finished_; }
  /// Why; rank_reached until there is another reason.
  Stop stop() const { return stopped_ ? stopped_by_ : reason_; }

 private:
  bool asks(const Moment& moment);  // target, clock and observer
  bool watched(Moment moment);      // by the observer
  bool agreed(bool wanted) const;
  bool stop_by(Stop reason);  // false: the run does not go on
  bool leave();               // in the middle of a step, if it is left at all; false
  bool is_left() const;       // by clock or observer: it could go on another time
  void keep_state();

  RunLimits limits_;
  Observer observer_;
  Agreement agreement_;
  CheckpointsPtr checkpoints_;
  Run* outer_ = nullptr;
  Timer timer_;
  double seconds_before_ = 0;  // of the runs that this one goes on from
  Stop reason_ = Stop::rank_reached, stopped_by_ = Stop::rank_reached;
  bool stopped_ = false, finished_ = false, ended_before_stop_ = false;
  std::unique_ptr<Kept> kept_;
};

}  // namespace pursuit
