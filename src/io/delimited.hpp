#pragma once
// Tables of numbers as text: CSV, TSV, and columns set apart by ';' or by blanks, with or without a line of
// column names and a column of row names (table_layout.hpp says how they are recognised).

#include <cstddef>
#include <string>
#include <vector>

#include "io/cell_scanner.hpp"
#include "io/plain_vector.hpp"
#include "io/stored_matrix.hpp"
#include "io/text_lines.hpp"
#include "io/text_writer.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::io {

/// Quotes ("" for a quote within), CRLF and blank lines are understood. The text must be in place. Throws
/// InvalidInput naming line and column for whatever is wrong, missing values included: they are not zeros.
StoredTable read_delimited(TextLines& lines, const MatrixReading& reading);

// What read_delimited() does, step by step, for those that read a part of the rows each.

/// What the first lines say of all.
struct TableHead {
  Separator separator = Separator::kComma;
  bool row_names = false;          // in the first cell of each line
  std::size_t cells = 0;           // that each line of numbers must have
  std::size_t reference_line = 0;  // because this line has them
  std::vector<std::string> column_names = {};

  Index columns() const { return static_cast<Index>(cells) - (row_names ? 1 : 0); }  // of numbers
};
/// The lines are behind the column names then.
TableHead read_table_head(TextLines& lines, Header header);

struct TableRows {
  PlainVector<double> values;  // row by row
  std::vector<std::string> names;
};
/// All that the lines have left.
TableRows read_table_rows(TextLines& lines, const TableHead& head, int threads);
/// Refuses a table that has none.
void require_rows(const std::string& name, const TableRows& rows);

/// Sparse matrices are written out in full. Names are quoted where they could be mistaken for anything else,
/// so that reading gives back the same table; an empty name in the very first cell becomes "unnamed".
void write_delimited(TextWriter& writer, const NamedMatrix& table, char separator);

}  // namespace pursuit::io
