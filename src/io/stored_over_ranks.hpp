#pragma once
// Matrices that a reader has taken in as one, on their way to the owners of their rows.

#include <string>
#include <string_view>

#include "io/own_rows.hpp"
#include "io/stored_matrix.hpp"

namespace pursuit::io {

/// Whether the numbers lie in the file as they are used.
bool lies_in(std::string_view file, const StoredMatrix& matrix);

// All ranks call these together; `path` stands for the file in messages.

/// Every rank has found the numbers in the file and takes its own rows, where they lie.
RankedTable map_rows(Ranks& ranks, const std::string& path, StoredMatrix matrix, int threads);

/// Rank 0 has read all of it, and deals it out.
RankedTable deal_rows(Ranks& ranks, const std::string& path, StoredTable all, int threads);

}  // namespace pursuit::io
