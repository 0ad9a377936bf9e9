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

class TableCells {
 public:
  TableCells(const std::string& name, Separator separator) : name_(name), separator_(separator) {}

  CellScanner of(std::string_view text, std::size_t lines_before) const {
    return {text, separator_, CellScanner::Quotes::span_lines, &name_, lines_before};
  }
  void require_utf8(std::string_view text, std::size_t line, std::size_t column) const {
    if (!is_utf8(text)) {
      refuse(at_cell(name_, line, column),
             fmt::format("the name {} is not UTF-8; save the file as UTF-8", shown(text)));
    }
  }
  /// `head` says how many cells there should be.
  [[noreturn]] void refuse_ragged(std::size_t line, std::size_t cells, const TableHead& head) const {
    refuse(at_line(name_, line), fmt::format("the line has {} {}, but line {} has {}", cells,
                                             cells == 1 ? "cell" : "cells", head.reference_line, head.cells));
  }

 private:
  const std::string& name_;
  Separator separator_;
};

/// What the first two lines say of all.
TableLayout read_layout(const TextLines& lines, const TableCells& cells, Header header, TableHead& head) {
  CellScanner scan = cells.of(*lines.rest(), lines.number());
  if (!scan.seek_record()) refuse(lines.name(), "the file holds only blank lines");
  head.reference_line = scan.record_line();
  const std::vector<Cell> first = scan.remaining_cells();
  head.cells = first.size();
  if (!scan.seek_record()) return find_layout(first, first, header);
  const std::vector<Cell> second = scan.remaining_cells();
  TableLayout layout = find_layout(first, second, header);
  if (!layout.doubt.empty())
    refuse(at_line(lines.name(), head.reference_line),
           layout.doubt + "; say which with --header yes or --header no, or put quotes around names");
  const bool corner_left_out = layout.column_names && layout.row_names && first.size() + 1 == second.size();
  if (first.size() != second.size() && !corner_left_out)
    cells.refuse_ragged(scan.record_line(), second.size(), head);
  head.cells = second.size();
  head.reference_line = scan.record_line();
  return layout;
}

void read_column_names(TextLines& lines, const TableCells& cells_of, TableHead& head) {
  CellScanner scan = cells_of.of(*lines.rest(), lines.number());
  scan.seek_record();
  const std::vector<Cell> cells = scan.remaining_cells();
  const std::size_t skipped = head.row_names && cells.size() == head.cells ? 1 : 0;
  for (std::size_t j = skipped; j < cells.size(); ++j) {
    cells_of.require_utf8(cells[j].text, scan.record_line(), j + 1);
    head.column_names.emplace_back(cells[j].text);
  }
  lines.skip(scan.position(), scan.lines_passed() - lines.number());
}

struct TablePart : ValuesPart {
  std::vector<std::string> row_names;
};

/// The rows of a table, a piece of its text at a time.
class TableRowsReader {
 public:
  TableRowsReader(const std::string& name, const TableHead& head)
      : name_(name), head_(head), cells_(name, head.separator) {}

  void read(std::string_view piece, const Place& before, TablePart& part) const {
    CellScanner scan = cells_.of(piece, before.lines);
    part.values.reserve(piece.size() / std::strlen("1,") + 1);
    const Index columns = head_.columns();
    std::size_t rows = 0;
    for (; scan.seek_record(); ++rows) {
      if (head_.row_names) {
        part.row_names.emplace_back(scan.next_cell().text);
        cells_.require_utf8(part.row_names.back(), scan.record_line(), 1);
      }
      for (Index j = 0; j < columns; ++j) {
        if (!scan.has_cell()) cells_.refuse_ragged(scan.record_line(), scan.column(), head_);
        double value = 0;
        if (!scan.next_number(value)) value = read_unusual_number(scan);
        part.values.push_back(value);
      }
      if (scan.has_cell())
        cells_.refuse_ragged(scan.record_line(), scan.column() + scan.remaining_cells().size(), head_);
    }
    part.extent = {scan.lines_passed() - before.lines, rows};
  }

 private:
  /// The number of a cell that is quoted; anything else is refused.
  double read_unusual_number(CellScanner& scan) const {
    const std::size_t line = scan.line(), column = scan.column() + 1;
    const std::string_view text = scan.next_cell().text;
    double value = 0;
    if (parse_whole_number(text, value) && std::isfinite(value)) return value;

    const std::size_t names_before = head_.cells - head_.column_names.size();
    std::string where = at_cell(name_, line, column);
    if (!head_.column_names.empty())
      where += fmt::format(" ({})", shown(head_.column_names[column - 1 - names_before]));
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

  const std::string& name_;
  const TableHead& head_;
  TableCells cells_;
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

TableHead read_table_head(TextLines& lines, Header header) {
  TableHead head;
  head.separator = find_table_separator(*lines.rest());
  const TableCells cells(lines.name(), head.separator);
  const TableLayout layout = read_layout(lines, cells, header, head);
  head.row_names = layout.row_names;
  if (layout.column_names) read_column_names(lines, cells, head);
  return head;
}

TableRows read_table_rows(TextLines& lines, const TableHead& head, int threads) {
  TableRows rows;
  const int resolved = resolve_threads(threads);
  const TableRowsReader reader(lines.name(), head);
  lines.in_parts<TablePart>(
      {.threads = threads, .quoted = head.separator},
      [&](std::string_view piece, const Place& before, TablePart& part) { reader.read(piece, before, part); },
      [&](std::vector<TablePart>& parts, std::size_t expected) {
        append_all(
            rows.values, parts, [](const auto& part) -> auto& { return part.values; },
            expected* static_cast<std::size_t>(head.columns()), resolved);
        for (TablePart& part : parts)
          rows.names.insert(rows.names.end(), std::make_move_iterator(part.row_names.begin()),
                            std::make_move_iterator(part.row_names.end()));
      });
  return rows;
}

void require_rows(const std::string& name, const TableRows& rows) {
  if (rows.values.empty()) refuse(name, "the file has a line of column names, but no line of numbers");
}

StoredTable read_delimited(TextLines& lines, const MatrixReading& reading) {
  TableHead head = read_table_head(lines, reading.header);
  TableRows rows = read_table_rows(lines, head, reading.threads);
  require_rows(lines.name(), rows);
  const Index count = static_cast<Index>(rows.values.size()) / head.columns();
  return {dense_array(std::move(rows.values), count, head.columns(), true), std::move(rows.names),
          std::move(head.column_names)};
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
