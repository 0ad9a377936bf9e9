#pragma once
// What structured completion can be asked for.

#include "pursuit/completion/structured.hpp"

namespace pursuit {

/// Whether f is not half the squared error.
bool by_loss(const StructuredOptions& options);

/// InvalidArgument or InvalidInput, naming the first option or entry that does not go with the others.
void require_possible(const StructuredOptions& options, const ObservedEntries& entries);

}  // namespace pursuit
