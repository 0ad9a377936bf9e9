#pragma once
// Walks over the cells of delimited text, keeping count of lines and columns.

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/number_text.hpp"

namespace pursuit::io {

struct Cell {
  std::string text;  // without quotes and surrounding blanks
  bool quoted = false;
};

/// A record is a line, or several where a quoted cell spans them. The separator ' ' stands for any run of
/// blanks.
class TableScanner {
 public:
  TableScanner(std::string_view text, char separator, const std::string& name)
      : at_(text.data()), end_(text.data() + text.size()), separator_(separator), name_(&name) {}

  /// Moves to the next record that is not blank; false at the end of the text.
  bool seek_record();

  /// Whether the record has a further cell. A record that ends in a separator has an empty one.
  bool has_cell() const { return has_cell_; }
  Cell next_cell();

  /// Reads the next cell if it is a finite number; otherwise stays before it and returns false.
  bool next_number(double& value) {
    const char* first = at_;
    skip_blanks();
    const char* last = parse_number(at_, end_, value);
    if (last != nullptr && std::isfinite(value)) [[likely]] {
      at_ = last;
      if (finish_cell()) return true;
    }
    at_ = first;
    return false;
  }

  std::vector<Cell> remaining_cells();

  std::size_t line() const { return line_; }      // of the next cell
  std::size_t column() const { return column_; }  // cells of this record already read

 private:
  bool is_blank(char c) const { return c == ' ' || c == '\r' || (c == '\t' && separator_ == ' '); }
  bool at_line_end() const { return at_ == end_ || *at_ == '\n'; }
  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }

  /// Passes the separator or the end of the line behind a cell; false where neither stands there.
  bool finish_cell() {
    const char* behind = at_;
    skip_blanks();
    if (at_line_end()) {
      has_cell_ = false;
      if (at_ != end_) {
        ++at_;
        ++line_;
      }
    } else if (separator_ == ' ' ? at_ == behind : *at_ != separator_) {
      return false;
    } else if (separator_ != ' ') {
      ++at_;
    }
    ++column_;
    return true;
  }

  std::string quoted_text();

  const char* at_;
  const char* end_;
  char separator_;
  bool has_cell_ = false;
  std::size_t line_ = 1, column_ = 0;
  const std::string* name_;
};

}  // namespace pursuit::io
