#pragma once
// Entries of symmetric matrices, of which one triangle says everything.

#include "pursuit/data/observed_entries.hpp"

namespace pursuit {

/// The upper triangle, whichever one was observed; InvalidInput where both were and differ.
ObservedEntries upper_triangle(const ObservedEntries& entries);

/// With the lower triangle too.
ObservedEntries mirrored(ObservedEntries upper);

/// With those of the lower triangle, where only the upper one is listed.
Index count_of(const ObservedEntries& entries, bool symmetric);

}  // namespace pursuit
