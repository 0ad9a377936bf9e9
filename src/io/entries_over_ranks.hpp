#pragma once
// Entries of a sparse matrix that ranks have found in their parts of a file, on their way to the owners of
// their rows.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/ranked_rows.hpp"
#include "io/sparse_assembly.hpp"

namespace pursuit::io {

/// What there is room for over the ranks: as many entries in each block of rows as int can count.
SparseRoom room_over_ranks(const Ranks& ranks);

/// Cuts by how many entries the rows have, which rank 0 alone looks at. Refused where there are more than
/// there is room for.
RowCuts cuts_by_counts(Ranks& ranks, const std::vector<std::int64_t>& counts, Index columns,
                       const std::string& name);

/// A matrix at the owners of its rows.
struct OwnedEntries {
  RowCuts cuts;
  Index stored = 0;
  std::vector<DataMatrixPtr> blocks = {};
  /// The first position that was given twice, the same on all ranks: there are no blocks then.
  std::optional<std::pair<int, int>> duplicate = std::nullopt;
};

/// All ranks call it, each with the entries of its part, which come in the order of the parts and are gone
/// afterwards. `name` stands for the file in messages.
OwnedEntries entries_to_owners(Ranks& ranks, Index rows, Index columns, Entries<double> entries,
                               const std::string& name, int threads);

}  // namespace pursuit::io
