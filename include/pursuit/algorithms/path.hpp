#pragma once
// A run as a path of results, one for every rank.

#include "pursuit/algorithms/trace.hpp"

namespace pursuit {

/// The last word of a trace on every rank, ascending: steps that later ones of the same or a smaller rank
/// made obsolete are left out.
Trace path_by_rank(const Trace& trace);

}  // namespace pursuit
