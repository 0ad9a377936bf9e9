#pragma once
// Ids that ranks meet, each in its part of a text, numbered as one reader would: in the order in which they
// appear. No rank needs to see all of them: each looks after those whose letters lead to it.

#include <vector>

#include "pursuit/base/ranks.hpp"
#include "pursuit/io/id_table.hpp"

namespace pursuit::io {

/// The numbers, among the ids of all ranks, of those in a rank's own table. All ranks call it; parts of the
/// text come in the order of ranks. The table of rank 0 has all ids afterwards. InvalidInput, on all, beyond
/// 2^31 - 1 ids.
std::vector<int> number_together(Ranks& ranks, IdTable& table);

}  // namespace pursuit::io
