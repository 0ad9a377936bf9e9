#pragma once
// Where a table of text has its names and its numbers, found from its first two lines.
//
// Separator: the one of tab, ';' and ',' that splits both lines into the same number of cells, or the first
// into one fewer; of several such, the one that gives the most cells. Blanks where no other one fits.
//
// Column names: the first line holds them if none of its data columns is a number, where a number that is
// quoted above one that is not counts as a name. A line of numbers (years, say) is data, unless its first
// cell is empty and either the next line starts with a name or the line reads ",0,1,2,...", as pandas writes
// a table without names. A line of names and numbers is in doubt.
//
// Row names: the first column holds them if it is no number, or is the only one quoted, or if the line of
// column names leaves its cell empty or leaves it out, as R does. One cell above two is in doubt unless they
// are a name and a number: it may be a remark.

#include <string>
#include <string_view>
#include <vector>

#include "io/cell_scanner.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::io {

enum class CellKind { kNumber, kMissing, kName };

/// Missing: empty, or one of the marks in use for it, such as NA. Numbers, though none that are accepted, are
/// "inf", what has a decimal comma and what has a unit such as "$1" and "2 %": they must not pass for names.
CellKind kind_of(std::string_view text);
inline bool is_number(std::string_view text) {
  return kind_of(text) == CellKind::kNumber;
}

/// Tabs, ';', ',' or blanks.
Separator find_table_separator(std::string_view text);

struct TableLayout {
  bool column_names = false;  // in the first line
  bool row_names = false;     // in the first column
  std::string doubt;          // why the first line may be either; empty where it is clear
};

/// For a table of one line pass that line twice.
TableLayout find_layout(const std::vector<Cell>& first, const std::vector<Cell>& second, Header header);

}  // namespace pursuit::io
