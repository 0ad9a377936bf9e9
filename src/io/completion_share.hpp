#pragma once
#include "completion/entry_pool.hpp"

namespace pursuit::io {

/// The part of a rank that follows in writing a model with the entries that ranks have (save_completion()).
void store_seen_share(Ranks& ranks, const EntryPool& seen);

}  // namespace pursuit::io
