#pragma once
// What a run tells about itself: one row per step, and why it stopped.

#include <functional>
#include <string>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

struct Step {
  Index rank = 0;             // atoms in the expansion after this step
  double objective = 0;       // f = 1/2 ||y - x||^2; infinite where that is beyond a double
  double relative_error = 0;  // ||y - x|| / ||y||
  double lmo_value = 0;  // |<z, r>| of the new atom against the residual it was found for; 0 for a polish
  double gain = 0;       // fall of f in this step
  double spread = 0;     // (best - median) / best over the oracle's restarts
  int iterations = 0;    // of the power method
  int sweeps = 0;        // of corrections
  double seconds = 0;    // since the start
  Index left_support = 0, right_support = 0;  // non-zeros in all atoms; 0 where atoms have no such sides
};

using Trace = std::vector<Step>;

enum class Stop {
  rank_reached,  // as many atoms as asked for; constrained weights may have left some without any, and
                 // dropped
  target_error,  // the relative error asked for is reached
  no_ascent,  // no atom was found along which f falls: the best approximation over the span, or a local end
  dependent_atom,  // the best atom found lies in the span of the others
  time_limit,
  interrupted,    // the observer asked to stop
  not_converged,  // an iteration did not settle within the steps it is given; the result is its best
};

const char* name(Stop stop);         // "rank_reached", ...
const char* explanation(Stop stop);  // one sentence for people

/// A moment of a run, for progress bars and early stopping.
struct Moment {
  enum class Phase {
    atom,
    correction,
    polish,
    iteration,  // of Lanczos, for all atoms at once
  } phase;
  Index rank, target_rank;
  int sweep, max_sweeps;
  double relative_error;
  double seconds;
};

/// Called after every atom and every sweep of corrections or iteration; returning false stops the run, which
/// keeps what it has.
using Observer = std::function<bool(const Moment&)>;

}  // namespace pursuit
