#pragma once
#include "pursuit/correction/correction.hpp"

namespace pursuit {

/// Every atom anew by the oracle on the residual without it; `ridge` is added to the squared norms of atoms.
CorrectionOutcome correct_by_oracle(Objective& f, const AtomSets& sets, const CorrectionOptions& options,
                                    double ridge);

}  // namespace pursuit
