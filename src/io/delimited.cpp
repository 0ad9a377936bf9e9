#include "io/delimited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "io/cell_scanner.hpp"
#include "io/defect.hpp"
#include "io/entries_part.hpp"
#include "io/number_text.hpp"
#include "io/table_layout.hpp"
#include "io/utf8.hpp"

namespace pursuit::io {

namespace {

struct TablePart : ValuesPart {
  std::vector<std::string> row_names;
};

class TableReader {
 public:
  TableReader(TextLines& lines, const MatrixReading& reading)
      : lines_(lines),
        name_(lines.name()),
        reading_(reading),
        text_(*lines.rest()),
        separator_(find_table_separator(text_)) {}

  StoredTable read() {
    const TableLayout layout = read_layout();
    named_ = layout.row_names;
    if (layout.column_names) read_column_names();
    columns_ = static_cast<Index>(cells_) - (named_ ? 1 : 0);
    PlainVector<double> values;  // row by row
    std::vector<std::string> row_names;
    const int threads = resolve_threads(reading_.threads);
    lines_.in_parts<TablePart>(
        {.threads = threads, .quoted = separator_},
        [&](std::string_view piece, const Place& before, TablePart& part) { read_rows(piece, before, part); },
        [&](std::vector<TablePart>& parts, std::size_t expected) {
          append_all(
              values, parts, [](const auto& part) -> auto& { return part.values; },
              expected* static_cast<std::size_t>(columns_), threads);
          for (TablePart& part : parts)
            row_names.insert(row_names.end(), std::make_move_iterator(part.row_names.begin()),
                             std::make_move_iterator(part.row_names.end()));
        });
    if (values.empty()) refuse(name_, "the file has a line of column names, but no line of numbers");
    const Index rows = static_cast<Index>(values.size()) / columns_;
    return {dense_array(std::move(values), rows, columns_, true), std::move(row_names),
            std::move(column_names_)};
  }

 private:
  CellScanner cells_of(std::string_view text, std::size_t lines_before) const {
    return {text, separator_, CellScanner::Quotes::span_lines, &name_, lines_before};
  }

  TableLayout read_layout() {
    CellScanner scan = cells_of(text_, lines_.number());
    if (!scan.seek_record()) refuse(name_, "the file holds only blank lines");
    reference_line_ = scan.record_line();
    const std::vector<Cell> first = scan.remaining_cells();
    cells_ = first.size();
    if (!scan.seek_record()) return find_layout(first, first, reading_.header);
    const std::vector<Cell> second = scan.remaining_cells();
    TableLayout layout = find_layout(first, second, reading_.header);
    if (!layout.doubt.empty())
      refuse(at_line(name_, reference_line_),
             layout.doubt + "; say which with --header yes or --header no, or put quotes around names");
    const bool corner_left_out = layout.column_names && layout.row_names && first.size() + 1 == second.size();
    if (first.size() != second.size() && !corner_left_out) refuse_ragged(scan.record_line(), second.size());
    cells_ = second.size();
    reference_line_ = scan.record_line();
    return layout;
  }

  void read_column_names() {
    CellScanner scan = cells_of(text_, lines_.number());
    scan.seek_record();
    const std::vector<Cell> cells = scan.remaining_cells();
    const std::size_t skipped = named_ && cells.size() == cells_ ? 1 : 0;
    for (std::size_t j = skipped; j < cells.size(); ++j) {
      require_utf8(cells[j].text, scan.record_line(), j + 1);
      column_names_.emplace_back(cells[j].text);
    }
    lines_.skip(scan.position(), scan.lines_passed() - lines_.number());
  }

  void read_rows(std::string_view piece, const Place& before, TablePart& part) const {
    CellScanner scan = cells_of(piece, before.lines);
    part.values.reserve(piece.size() / std::strlen("1,") + 1);
    std::size_t rows = 0;
    for (; scan.seek_record(); ++rows) {
      if (named_) {
        part.row_names.emplace_back(scan.next_cell().text);
        require_utf8(part.row_names.back(), scan.record_line(), 1);
      }
      for (Index j = 0; j < columns_; ++j) {
        if (!scan.has_cell()) refuse_ragged(scan.record_line(), scan.column());
        double value = 0;
        if (!scan.next_number(value)) value = read_unusual_number(scan);
        part.values.push_back(value);
      }
      if (scan.has_cell()) refuse_ragged(scan.record_line(), scan.column() + scan.remaining_cells().size());
    }
    part.extent = {scan.lines_passed() - before.lines, rows};
  }

  /// The number of a cell that is quoted; anything else is refused.
  double read_unusual_number(CellScanner& scan) const {
    const std::size_t line = scan.line(), column = scan.column() + 1;
    const std::string_view text = scan.next_cell().text;
    double value = 0;
    if (parse_whole_number(text, value) && std::isfinite(value)) return value;

    const std::size_t names_before = cells_ - column_names_.size();
    std::string where = at_cell(name_, line, column);
    if (!column_names_.empty())
      where += fmt::format(" ({})", shown(column_names_[column - 1 - names_before]));
    if (kind_of(text) == CellKind::kMissing) {
      refuse(where, fmt::format("missing value {}; a missing entry is not a zero, so it is not read as one. "
                                "`pursuit complete` fills in missing entries",
                                shown(text)));
    }
    if (text.find(',') != std::string_view::npos) {
      refuse(where, fmt::format("{} is not a number: a decimal comma is not understood, only a decimal point",
                                shown(text)));
    }
    refuse(where, fmt::format("{} is not a finite number", shown(text)));
  }

  void require_utf8(std::string_view text, std::size_t line, std::size_t column) const {
    if (!is_utf8(text)) {
      refuse(at_cell(name_, line, column),
             fmt::format("the name {} is not UTF-8; save the file as UTF-8", shown(text)));
    }
  }

  [[noreturn]] void refuse_ragged(std::size_t line, std::size_t cells) const {
    refuse(at_line(name_, line), fmt::format("the line has {} {}, but line {} has {}", cells,
                                             cells == 1 ? "cell" : "cells", reference_line_, cells_));
  }

  TextLines& lines_;
  const std::string& name_;
  const MatrixReading reading_;
  const std::string_view text_;
  const Separator separator_;
  bool named_ = false;              // rows
  Index columns_ = 0;               // of numbers
  std::size_t cells_ = 0;           // that each line of numbers must have
  std::size_t reference_line_ = 0;  // because this line has them
  std::vector<std::string> column_names_;
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

void append_name(std::string& text, std::string name, bool starts_file) {
  // A first cell left empty would say that a column of row names follows.
  if (starts_file && name.empty()) name = "unnamed";
  if (!needs_quotes(name)) {
    text += name;
    return;
  }
  text += '"';
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

/// The numbers of a row, one after the other.
template <class Scalar>
void append_row(std::string& text, const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& matrix,
                Index i, char separator) {
  for (Index j = 0; j < matrix.cols(); ++j) {
    if (j > 0) text += separator;
    append_number(text, matrix(i, j));
  }
}
template <class Scalar>
void append_row(std::string& text, const SparseMatrixOf<Scalar>& matrix, Index i, char separator) {
  typename SparseMatrixOf<Scalar>::InnerIterator entry(matrix, i);
  for (Index j = 0; j < matrix.cols(); ++j) {
    if (j > 0) text += separator;
    if (entry && entry.col() == j) {
      append_number(text, entry.value());
      ++entry;
    } else {
      text += '0';
    }
  }
}

}  // namespace

StoredTable read_delimited(TextLines& lines, const MatrixReading& reading) {
  return TableReader(lines, reading).read();
}

void write_delimited(TextWriter& writer, const NamedMatrix& table, char separator) {
  std::string text;
  if (!table.column_names.empty()) {
    if (!table.row_names.empty()) text += separator;
    for (std::size_t j = 0; j < table.column_names.size(); ++j) {
      if (j > 0) text += separator;
      append_name(text, table.column_names[j], text.empty());
    }
    text += '\n';
    writer.write(text);
  }
  const bool starts_file = text.empty();
  std::visit(
      [&](const auto& matrix) {
        writer.write_lines(matrix.rows(), matrix.cols(), [&](std::string& lines, Index i) {
          if (!table.row_names.empty()) {
            append_name(lines, table.row_names[static_cast<std::size_t>(i)], starts_file && i == 0);
            lines += separator;
          }
          append_row(lines, matrix, i, separator);
          lines += '\n';
        });
      },
      table.matrix);
}

}  // namespace pursuit::io
