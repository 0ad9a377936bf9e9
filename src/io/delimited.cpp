#include "io/delimited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/number_text.hpp"
#include "io/row_panels.hpp"
#include "io/table_layout.hpp"
#include "io/table_scanner.hpp"
#include "io/utf8.hpp"

namespace pursuit::io {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The text without byte order mark. Throws for what cannot be a table in UTF-8.
std::string_view require_text(std::string_view text, const std::string& name) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    refuse(name, "this is UTF-16 text; save the file as UTF-8");
  }
  require_no_zero_byte(text, name);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& name, Header header)
      : name_(name), header_(header), start_(text, find_separator(text), name), scan_(start_) {}

  NamedMatrix read() {
    const TableLayout layout = read_layout();
    scan_ = start_;
    if (layout.column_names) read_column_names(layout.row_names);
    const Index columns = static_cast<Index>(cells_) - (layout.row_names ? 1 : 0);
    std::vector<double> values;  // row by row
    while (seek_record()) read_row(layout.row_names, columns, values);
    if (values.empty()) refuse(name_, "the file has a line of column names, but no line of numbers");

    Matrix matrix(static_cast<Index>(values.size()) / columns, columns);
    fill_from_row_panels(matrix, [&](Index first, Index) { return values.data() + first * columns; });
    return {std::move(matrix), std::move(row_names_), std::move(column_names_)};
  }

 private:
  bool seek_record() {
    const bool found = scan_.seek_record();
    record_ = scan_;
    return found;
  }

  TableLayout read_layout() {
    if (!seek_record()) refuse(name_, "the file holds only blank lines");
    reference_line_ = scan_.line();
    const std::vector<Cell> first = scan_.remaining_cells();
    if (!seek_record()) {
      cells_ = first.size();
      return find_layout(first, first, header_);
    }
    const std::size_t second_line = scan_.line();
    const std::vector<Cell> second = scan_.remaining_cells();
    TableLayout layout = find_layout(first, second, header_);
    if (!layout.doubt.empty())
      refuse(at_line(name_, reference_line_),
             layout.doubt + "; say which with --header yes or --header no, or put quotes around names");
    cells_ = first.size();
    const bool corner_left_out = layout.column_names && layout.row_names && first.size() + 1 == second.size();
    if (first.size() != second.size() && !corner_left_out) refuse_ragged();
    cells_ = second.size();
    reference_line_ = second_line;
    return layout;
  }

  void read_column_names(bool skip_corner) {
    seek_record();
    std::vector<Cell> cells = scan_.remaining_cells();
    const std::size_t skipped = skip_corner && cells.size() == cells_ ? 1 : 0;
    for (std::size_t j = skipped; j < cells.size(); ++j) {
      require_utf8(cells[j].text, j + 1);
      column_names_.push_back(std::move(cells[j].text));
    }
  }

  void read_row(bool named, Index columns, std::vector<double>& values) {
    if (named) {
      row_names_.push_back(scan_.next_cell().text);
      require_utf8(row_names_.back(), 1);
    }
    for (Index j = 0; j < columns; ++j) {
      if (!scan_.has_cell()) refuse_ragged();
      double value = 0;
      if (!scan_.next_number(value)) value = read_unusual_number();
      values.push_back(value);
    }
    if (scan_.has_cell()) refuse_ragged();
  }

  /// The number of a cell that is quoted; anything else is refused.
  double read_unusual_number() {
    const std::size_t line = scan_.line(), column = scan_.column() + 1;
    const Cell cell = scan_.next_cell();
    double value = 0;
    if (parse_whole_number(cell.text, value) && std::isfinite(value)) return value;

    const std::size_t names_before = cells_ - column_names_.size();
    std::string where = at_cell(name_, line, column);
    if (!column_names_.empty())
      where += fmt::format(" ({})", shown(column_names_[column - 1 - names_before]));
    if (kind_of(cell.text) == CellKind::kMissing) {
      refuse(where, fmt::format("missing value {}; a missing entry is not a zero, so it is not read as one. "
                                "`pursuit complete` fills in missing entries",
                                shown(cell.text)));
    }
    if (cell.text.find(',') != std::string::npos) {
      refuse(where, fmt::format("{} is not a number: a decimal comma is not understood, only a decimal point",
                                shown(cell.text)));
    }
    refuse(where, fmt::format("{} is not a finite number", shown(cell.text)));
  }

  void require_utf8(const std::string& text, std::size_t column) const {
    if (!decode_utf8(text)) {
      refuse(at_cell(name_, record_.line(), column),
             fmt::format("the name {} is not UTF-8; save the file as UTF-8", shown(text)));
    }
  }

  [[noreturn]] void refuse_ragged() const {
    TableScanner counter = record_;
    const std::size_t cells = counter.remaining_cells().size();
    refuse(at_line(name_, record_.line()),
           fmt::format("the line has {} {}, but line {} has {}", cells, cells == 1 ? "cell" : "cells",
                       reference_line_, cells_));
  }

  const std::string& name_;
  const Header header_;
  const TableScanner start_;
  TableScanner scan_;
  TableScanner record_ = start_;    // at the start of the current record
  std::size_t cells_ = 0;           // that each line of numbers must have
  std::size_t reference_line_ = 0;  // because this line has them
  std::vector<std::string> row_names_, column_names_;
};

/// Whether a name must be quoted to be read back as this name, in the first cell of a file too: there it must
/// not be mistaken for the mark of another format.
bool needs_quotes(const std::string& name) {
  const auto separates = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == ',' || c == ';';
  };
  return kind_of(name) != CellKind::kName || std::any_of(name.begin(), name.end(), separates) ||
         name.starts_with(kByteOrderMark) || name.starts_with("%%");
}

void append_name(std::string& text, std::string name) {
  // A first cell left empty would say that a column of row names follows.
  if (text.empty() && name.empty()) name = "unnamed";
  if (!needs_quotes(name)) {
    text += name;
    return;
  }
  text += '"';
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

template <class Stored>
void append_rows(std::string& text, const Stored& matrix, const std::vector<std::string>& row_names,
                 char separator) {
  using Scalar = typename Stored::Scalar;
  Eigen::Matrix<Scalar, 1, Eigen::Dynamic> row(matrix.cols());
  for (Index i = 0; i < matrix.rows(); ++i) {
    row = matrix.row(i);
    if (!row_names.empty()) {
      append_name(text, row_names[static_cast<std::size_t>(i)]);
      text += separator;
    }
    for (Index j = 0; j < row.size(); ++j) {
      if (j > 0) text += separator;
      append_number(text, row[j]);
    }
    text += '\n';
  }
}

}  // namespace

NamedMatrix parse_delimited(std::string_view text, const std::string& name, Header header) {
  return TableReader(require_text(text, name), name, header).read();
}

std::string format_delimited(const NamedMatrix& table, char separator) {
  std::string text;
  if (!table.column_names.empty()) {
    if (!table.row_names.empty()) text += separator;
    for (std::size_t j = 0; j < table.column_names.size(); ++j) {
      if (j > 0) text += separator;
      append_name(text, table.column_names[j]);
    }
    text += '\n';
  }
  std::visit([&](const auto& matrix) { append_rows(text, matrix, table.row_names, separator); },
             table.matrix);
  return text;
}

}  // namespace pursuit::io
