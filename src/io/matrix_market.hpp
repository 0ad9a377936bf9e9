#pragma once
// MatrixMarket text: "coordinate" files are sparse, "array" files dense. Real, integer and pattern entries (a
// pattern's entries are 1), stored in full or as the lower triangle of a symmetric or skew-symmetric matrix.

#include <string>
#include <string_view>

#include "io/ratings_collector.hpp"
#include "io/stored_matrix.hpp"
#include "io/text_lines.hpp"
#include "io/text_writer.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

/// Whether the text starts like a MatrixMarket file, however badly it may go on.
bool looks_like_matrix_market(std::string_view text);

/// Throws InvalidInput naming the line for whatever is wrong. The sizes that the header promises are checked
/// against the length of the text, where that is known, before anything is allocated. Two entries of the same
/// position are an error: whether they should be summed or one of them is a slip, only the author of the file
/// knows.
StoredMatrix read_matrix_market(TextLines& lines, int threads);

/// "coordinate real general" for sparse matrices, "array real general" for dense ones.
void write_matrix_market(TextWriter& writer, const AnyMatrix& matrix);

/// Observed entries: of "coordinate" files of real or integer entries, stored in full. What is not stored is
/// unknown; duplicates are left to the collector.
void read_market_ratings(TextLines& lines, int threads, RatingsCollector& ratings);

}  // namespace pursuit::io
