#pragma once
// What implicit feedback can be completed, and how.

#include "pursuit/completion/implicit.hpp"

namespace pursuit {

/// InvalidArgument or InvalidInput, naming the first option or entry that does not go with the others.
void require_possible(const ImplicitOptions& options, const ObservedEntries& entries);

/// An entry of 0 is as good as none. InvalidInput where no other is left.
ObservedEntries without_zeros(ObservedEntries entries);

}  // namespace pursuit
