#pragma once
// Tables of numbers as text: CSV, TSV, and columns set apart by ';' or by blanks, with or without a line of
// column names and a column of row names (table_layout.hpp says how they are recognised).

#include <string>
#include <string_view>

#include "pursuit/io/matrix_file.hpp"

namespace pursuit::io {

/// Quotes ("" for a quote within), CRLF, a UTF-8 byte order mark and blank lines are understood. Throws
/// InvalidInput naming line and column for whatever is wrong, missing values included: they are not zeros.
NamedMatrix parse_delimited(std::string_view text, const std::string& name, Header header = Header::find);

/// Sparse matrices are written out in full. Names are quoted where they could be mistaken for anything else,
/// so that parse_delimited() gives back the same table; an empty name in the very first cell becomes
/// "unnamed".
std::string format_delimited(const NamedMatrix& table, char separator);

}  // namespace pursuit::io
