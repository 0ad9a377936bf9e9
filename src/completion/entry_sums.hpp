#pragma once
// Sums of rows of a table over the entries of a side: the product of a sparse matrix with a block of columns,
// in single precision.

#include <functional>
#include <span>

#include "base/shared_numbers.hpp"
#include "completion/entry_tasks.hpp"

namespace pursuit {

/// sums_i = sum over the entries (i, j) of row j of `table`, times the entry's value if these count; rows
/// have `width` numbers, a multiple of kFactorLanes. Where `stop` says true some are left out.
void sum_over_entries(const EntryTasks& rows, std::span<const float> table, int width, bool times_values,
                      int threads, SharedNumbers<float>& sums, const std::function<bool()>& stop = {});

}  // namespace pursuit
