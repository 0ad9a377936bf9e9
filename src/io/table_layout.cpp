#include "io/table_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <string>

#include "io/defect.hpp"
#include "io/number_text.hpp"

namespace pursuit::io {

namespace {

/// How many cells a separator gives the first record of the text and the second; the same where there is one.
struct CellCounts {
  CellCounts(std::string_view text, Separator separator) {
    CellScanner cells(text, separator, CellScanner::Quotes::span_lines);
    const auto count = [&] {
      while (cells.has_cell()) {
        const Cell cell = cells.next_cell();
        sound &= cell.quoted || cell.text.find('"') == std::string_view::npos;
      }
      return cells.column();
    };
    if (cells.seek_record()) first = second = count();
    if (cells.seek_record()) second = count();
    sound &= cells.quotes_are_sound();
  }

  /// 0 where the records do not go together, 1 where they do, 2 where all quotes stand around whole cells
  /// too: a separator that stands inside quotes is none.
  int fit() const { return second > 1 && (first == second || first + 1 == second) ? 1 + int(sound) : 0; }

  std::size_t first = 0, second = 0;
  bool sound = true;
};

bool is_name(const Cell& cell) {
  return kind_of(cell.text) == CellKind::kName;
}

/// Whether a cell of the first line is a name, given the cell below it.
bool names_column(const Cell& cell, const Cell& below) {
  return is_name(cell) || (cell.quoted && !below.quoted);
}

/// Whether the first cell of a line names the line.
bool names_row(const std::vector<Cell>& line) {
  const auto quoted = [](const Cell& cell) { return cell.quoted; };
  return line.size() > 1 &&
         (is_name(line[0]) || (line[0].quoted && std::none_of(line.begin() + 1, line.end(), quoted)));
}

/// What the cells of a first line are, each seen with the one below it.
struct Census {
  std::size_t names = 0, numbers = 0;
  std::string name, number;  // the first of each
};

Census count_names(const std::vector<Cell>& first, std::size_t from, const std::vector<Cell>& second,
                   std::size_t below) {
  Census census;
  for (; from < first.size() && below < second.size(); ++from, ++below) {
    const std::string_view text = first[from].text;
    if (names_column(first[from], second[below])) {
      if (census.names++ == 0) census.name = text;
    } else if (kind_of(text) == CellKind::kNumber) {
      if (census.numbers++ == 0) census.number = text;
    }
  }
  return census;
}

bool counts_up_from_zero(const std::vector<Cell>& cells) {
  for (std::size_t j = 1; j < cells.size(); ++j) {
    if (cells[j].text != std::to_string(j - 1)) return false;
  }
  return cells.size() > 1;
}

}  // namespace

namespace {

/// "$1", "2 %", "(3.5)", "1,000": a number with more around it.
bool is_dressed_number(std::string_view text) {
  const auto strip = [&](std::initializer_list<std::string_view> dress, bool front) {
    for (const std::string_view each : dress)
      if (!text.empty() && (front ? text.starts_with(each) : text.ends_with(each))) {
        front ? text.remove_prefix(each.size()) : text.remove_suffix(each.size());
        return true;
      }
    return false;
  };
  while (strip({"$", "€", "£", "¥", "<", ">", "=", "~", "(", "+", "-", " "}, true)) {
  }
  while (strip({"%", "‰", "$", "€", "£", "¥", ")", " "}, false)) {
  }
  std::string digits(text);
  std::erase_if(digits, [](char c) { return c == ',' || c == '\''; });
  double value = 0;
  return digits.find_first_of("0123456789") != std::string::npos && parse_whole_number(digits, value);
}

}  // namespace

CellKind kind_of(std::string_view text) {
  double value = 0;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view mark : {"", "na", "n/a", "nan", "null", "none", "?"}) {
    if (lower == mark) return CellKind::kMissing;
  }
  std::replace(lower.begin(), lower.end(), ',', '.');
  return parse_whole_number(lower, value) || is_dressed_number(text) ? CellKind::kNumber : CellKind::kName;
}

Separator find_table_separator(std::string_view text) {
  Separator best = Separator::kBlanks;
  int best_fit = 0;
  std::size_t most = 1;
  for (const Separator candidate : {Separator::kTab, Separator::kSemicolon, Separator::kComma}) {
    const CellCounts counts(text, candidate);
    const std::size_t cells = std::max(counts.first, counts.second);
    if (counts.fit() == best_fit ? cells > most : counts.fit() > best_fit) {
      best = candidate;
      best_fit = counts.fit();
      most = cells;
    }
  }
  // Where no separator fits both lines the file is malformed, unless blanks fit.
  return best_fit == 0 && CellCounts(text, Separator::kBlanks).fit() > 0 ? Separator::kBlanks : best;
}

TableLayout find_layout(const std::vector<Cell>& first, const std::vector<Cell>& second, Header header) {
  TableLayout layout;
  const bool corner_left_out = first.size() + 1 == second.size();  // above the row names, as R does
  const bool corner_empty = first.size() > 1 && first[0].text.empty() && &first != &second;
  const bool row_named = names_row(second);
  if (header == Header::no) {
    layout.row_names = row_named && names_row(first);
    return layout;
  }
  if (header == Header::yes) {
    layout.column_names = true;
    layout.row_names = corner_left_out || corner_empty || row_named;
    return layout;
  }
  if (corner_left_out) {
    const Census cells = count_names(first, 0, second, 1);
    layout.column_names = layout.row_names = row_named || cells.names > 0;
    if (!row_named && cells.names > 0 && (first.size() == 1 || cells.numbers > 0))
      layout.doubt = fmt::format(
          "the line has one cell fewer than the next: {} may be the name of a column or a "
          "remark that does not belong to the table",
          shown(cells.name));
    return layout;
  }
  const std::size_t data = row_named ? 1 : 0;
  const Census cells = count_names(first, data, second, data);
  layout.column_names = cells.names > 0;
  if (cells.names > 0 && cells.numbers > 0 && !(corner_empty && row_named))
    layout.doubt = fmt::format("the line may be column names or numbers: {} is no number, but {} is one",
                               shown(cells.name), shown(cells.number));
  // Without column names the first line is data as well, and must start with a name as the second does.
  layout.row_names = row_named && (layout.column_names || names_row(first));
  if (corner_empty) {
    const bool corner = layout.column_names || row_named || counts_up_from_zero(first);
    layout.column_names = layout.row_names = corner;
  }
  return layout;
}

}  // namespace pursuit::io
