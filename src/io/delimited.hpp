#pragma once
// Tables of numbers as text: CSV, TSV, and columns set apart by ';' or by blanks, with or without a line of
// column names and a column of row names (table_layout.hpp says how they are recognised).

#include <string>

#include "io/stored_matrix.hpp"
#include "io/text_lines.hpp"
#include "io/text_writer.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::io {

/// Quotes ("" for a quote within), CRLF and blank lines are understood. The text must be in place. Throws
/// InvalidInput naming line and column for whatever is wrong, missing values included: they are not zeros.
StoredTable read_delimited(TextLines& lines, const MatrixReading& reading);

/// Sparse matrices are written out in full. Names are quoted where they could be mistaken for anything else,
/// so that reading gives back the same table; an empty name in the very first cell becomes "unnamed".
void write_delimited(TextWriter& writer, const NamedMatrix& table, char separator);

}  // namespace pursuit::io
