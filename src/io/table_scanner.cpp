#include "io/table_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/defect.hpp"

namespace pursuit::io {

bool TableScanner::seek_record() {
  while (true) {
    const char* line_start = at_;
    skip_blanks();
    if (at_ == end_) return false;
    if (*at_ != '\n') {
      at_ = line_start;
      column_ = 0;
      has_cell_ = true;
      return true;
    }
    ++at_;
    ++line_;
  }
}

Cell TableScanner::next_cell() {
  Cell cell;
  skip_blanks();
  const std::size_t line = line_;
  if (at_ != end_ && *at_ == '"') {
    cell = {quoted_text(), true};
  } else {
    const char* first = at_;
    while (!at_line_end() && *at_ != separator_ && !(separator_ == ' ' && is_blank(*at_))) ++at_;
    const char* last = at_;
    while (last != first && is_blank(last[-1])) --last;
    cell.text.assign(first, last);
  }
  const char* behind = at_;
  if (!finish_cell()) {
    refuse(at_cell(*name_, line, column_ + 1), fmt::format("{} follows the closing quote of the cell",
                                                           shown({behind, std::find(behind, end_, '\n')})));
  }
  return cell;
}

std::string TableScanner::quoted_text() {
  const std::size_t first_line = line_;
  std::string text;
  for (++at_; at_ != end_; ++at_) {
    if (*at_ == '"') {
      ++at_;
      if (at_ == end_ || *at_ != '"') return text;
    }
    line_ += *at_ == '\n';
    text += *at_;
  }
  refuse(at_cell(*name_, first_line, column_ + 1), "the quote that opens the cell is never closed");
}

std::vector<Cell> TableScanner::remaining_cells() {
  std::vector<Cell> cells;
  while (has_cell_) cells.push_back(next_cell());
  return cells;
}

}  // namespace pursuit::io
