#pragma once
// MatrixMarket text: "coordinate" files are sparse, "array" files dense. Real, integer and pattern entries (a
// pattern's entries are 1), stored in full or as the lower triangle of a symmetric or skew-symmetric matrix.

#include <string>
#include <string_view>

#include "pursuit/base/types.hpp"

namespace pursuit::io {

/// Whether the text starts like a MatrixMarket file, however badly it may go on.
bool looks_like_matrix_market(std::string_view text);

/// Throws InvalidInput naming the line for whatever is wrong. The sizes that the header promises are checked
/// against the length of the text before anything is allocated. Two entries of the same position are an
/// error: whether they should be summed or one of them is a slip, only the author of the file knows.
AnyMatrix parse_matrix_market(std::string_view text, const std::string& name);

/// "coordinate real general" for sparse matrices, "array real general" for dense ones.
std::string format_matrix_market(const AnyMatrix& matrix);

}  // namespace pursuit::io
