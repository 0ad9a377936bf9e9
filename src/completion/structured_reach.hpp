#pragma once
// Atoms of few non-zeros reach few entries each: there have to be more of them.

#include "pursuit/completion/structured.hpp"

namespace pursuit {

/// How many times as many atoms as where every atom reaches all entries: 1 to 4, and 1 where every
/// rank is polished.
double atoms_for_reach(const StructuredOptions& options, Index rows, Index cols);

}  // namespace pursuit
