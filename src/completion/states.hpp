#pragma once
// What completions keep of their runs, beside what objectives and pursuits keep, and what they are about.

#include <string>
#include <vector>

#include "completion/entry_pool.hpp"
#include "pursuit/base/checkpoints.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/correction/regularization.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {

void visit(StateArchive& archive, const std::string& name, std::vector<CompletionStage>& path);
void visit(StateArchive& archive, const std::string& name, OwnTerms& terms);
void visit(StateArchive& archive, Regularization& price);

void identify(const std::string& name, const ObservedEntries& entries, Identity& identity);

/// Which entries are predicted in the end, how fast, and for how long does not matter.
Identity identity_of(const EntryPool& entries, std::uint64_t fingerprint, const CompletionOptions& options);

}  // namespace pursuit
