#pragma once
// What a pursuit leaves about itself: one row per step.

#include <vector>

#include "pursuit/base/state_archive.hpp"

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
  double last_sweep = 0;  // share of f that the last sweep took: how far the atoms are from settled
};

using Trace = std::vector<Step>;

void visit(StateArchive& archive, const std::string& name, Trace& trace);

}  // namespace pursuit
