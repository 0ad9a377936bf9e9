#include "io/ratings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include "io/defect.hpp"
#include "io/number_text.hpp"
#include "io/ratings_columns.hpp"
#include "io/table_layout.hpp"

namespace pursuit::io {

namespace {

/// What all lines of a file have in common: so many fields are needed, with the separator of the first line.
template <std::size_t kNeeded>
struct FieldLayout {
  const std::string& name;
  const char* needed;
  Separator separator;
  std::size_t reference;  // the line that the separator was found from
  std::vector<int> role;  // of the fields of a line as far as they are needed; -1 for one that is not

  FieldLayout(TextLines& lines, const char* what) : name(lines.name()), needed(what) {
    std::string_view line;
    if (!lines.next_filled(line)) refuse(name, "the file holds only blank lines");
    separator = find_separator(line, kNeeded);
    reference = lines.number();
    lines.step_back();
    for (std::size_t k = 0; k < kNeeded; ++k) role.push_back(int(k));
  }
};

/// The lines of a piece of a file, cut into as many fields as are needed.
template <std::size_t kNeeded>
class FieldLines {
 public:
  FieldLines(std::string_view piece, const Place& before, const FieldLayout<kNeeded>& layout)
      : layout_(layout),
        cells_(piece, layout.separator, CellScanner::Quotes::end_with_line, &layout.name, before.lines) {}

  /// Cuts the next line that holds anything; false at the end of the piece.
  bool next() {
    if (!cells_.seek_record()) return false;
    for (std::size_t k = 0; k < layout_.role.size(); ++k) {
      if (!cells_.has_cell()) [[unlikely]]
        refuse_line(k);
      const std::string_view text = cells_.next_cell().text;
      if (const int role = layout_.role[k]; role >= 0) fields_[std::size_t(role)] = text;
    }
    cells_.skip_line();
    return true;
  }

  std::string_view operator[](std::size_t k) const { return fields_[k]; }
  std::size_t line() const { return cells_.record_line(); }
  std::string here() const { return at_line(layout_.name, line()); }
  std::size_t lines_passed() const { return cells_.lines_passed(); }

 private:
  [[noreturn]] void refuse_line(std::size_t count) const {
    constexpr std::size_t kLongest = std::size_t{1} << 18;
    const std::string_view text = cells_.record_text();
    if (text.size() > kLongest)
      refuse(here(),
             fmt::format("the line is longer than {}: this is no file of ratings", human_size(kLongest)));
    const std::string few = fmt::format("the line {} has {} {}; needed are {}", shown(text), count,
                                        count == 1 ? "field" : "fields", layout_.needed);
    if (line() == layout_.reference) refuse(here(), few + ", separated by tabs, '::', ',', ';' or blanks");
    const Separator other = find_separator(text, kNeeded);
    CellScanner cells(text, other, CellScanner::Quotes::end_with_line);
    cells.seek_record();
    if (cells.remaining_cells().size() >= layout_.role.size())
      refuse(here(), fmt::format("the fields are separated by {}, but on line {} by {}; a file must use "
                                 "one separator",
                                 shown(other), layout_.reference, shown(layout_.separator)));
    refuse(here(), fmt::format("{}, separated by {} as on line {}", few, shown(layout_.separator),
                               layout_.reference));
  }

  const FieldLayout<kNeeded>& layout_;
  CellScanner cells_;
  std::array<std::string_view, kNeeded + 1> fields_;  // one more may be asked for
};

/// Two digits, or four of a year; -1 where there are none.
int digits(std::string_view text, std::size_t first, std::size_t count) {
  int value = 0;
  for (std::size_t k = first; k < first + count; ++k) {
    if (k >= text.size() || text[k] < '0' || text[k] > '9') return -1;
    value = 10 * value + (text[k] - '0');
  }
  return value;
}

/// 2005-01-31, 2005-01-31 12:30 or 2005-01-31T12:30:59 and anything behind, as seconds since 1970.
bool parse_date(std::string_view text, double& seconds) {
  const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || text[4] != '-' || text[7] != '-')
    return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(unsigned(month)),
                                         std::chrono::day(unsigned(day))};
  if (!date.ok()) return false;
  seconds = double(std::chrono::sys_days(date).time_since_epoch().count()) * 86400;
  if (text.size() == 10) return true;
  const int hour = digits(text, 11, 2), minute = digits(text, 14, 2);
  if ((text[10] != ' ' && text[10] != 'T') || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      text[13] != ':')
    return false;
  seconds += 3600 * hour + 60 * minute;
  if (text.size() > 16 && text[16] == ':') seconds += std::max(digits(text, 17, 2), 0);
  return true;
}

template <class Where>
double parse_time(std::string_view text, const Where& where) {
  double time = 0;
  if (parse_whole_number(text, time) && std::isfinite(time)) return time;
  if (!parse_date(text, time))
    refuse(where(), fmt::format("the time {} is neither a number nor a date such as 2005-01-31 12:30:00",
                                shown(text)));
  return time;
}

struct PairsPart {
  IdPairs pairs;
  Place before, extent;
};

}  // namespace

double parse_time_text(const std::string& text) {
  return parse_time(text, [] { return std::string("time"); });
}

void refuse_value(std::string_view text, const std::string& where) {
  double value = 0;
  if (text.empty()) refuse(where, "the value is missing; a number is needed");
  if (parse_whole_number(text, value)) refuse_rating(value, text, where);
  if (text.find(',') != std::string_view::npos && is_number(text))
    refuse(where, fmt::format("the value {} is not a number: a decimal comma is not understood, only a "
                              "decimal point",
                              shown(text)));
  refuse(where, fmt::format("the value {} is not a number", shown(text)));
}

std::size_t read_text_ratings(TextLines& lines, const RatingsOptions& options, RatingsCollector& ratings,
                              const TextShare& share) {
  FieldLayout<3> layout(
      lines, options.clicks
                 ? "row and column"
                 : "row, column and value (row and column alone are clicks: `complete --implicit`)");
  std::string_view line;
  lines.next_filled(line);
  CellScanner cells(line, layout.separator, CellScanner::Quotes::end_with_line);
  cells.seek_record();
  std::vector<std::string> names;
  for (const Cell& cell : cells.remaining_cells()) names.emplace_back(cell.text);
  const bool pairs = options.clicks && names.size() == 2;
  if (pairs) layout.role.pop_back();
  FieldLines<3> first(line, {lines.number() - 1, 0}, layout);
  first.next();
  const bool header = (pairs ? names_ids(names) : kind_of(first[2]) == CellKind::kName) &&
                      !is_number(first[0]) && !is_number(first[1]);
  if (names.size() > 3 && names[0] == "#") names.erase(names.begin());  // a remark that names the columns
  layout.role =
      roles_of_columns(names, header, {options.columns, options.times, options.clicks}, lines.here());
  const auto value = std::find(layout.role.begin(), layout.role.end(), 2) - layout.role.begin();
  const bool values = value < std::ptrdiff_t(layout.role.size());
  if (options.clicks && (!values || (header && names_a_count(names[std::size_t(value)]))))
    ratings.values_are_counts();
  if (!header) lines.step_back();
  const std::size_t behind_header = lines.number();
  if (!share.is_all()) lines.keep_bytes(share.from, share.to);
  const auto parse = [&](std::string_view piece, const Place& before, RatingsPart& part) {
    FieldLines<3> fields(piece, before, layout);
    const auto here = [&] { return fields.here(); };
    part.reserve(piece.size() / std::strlen("1,1,1\n") + 1);
    std::string_view last_id;
    int row = -1;
    while (fields.next()) {
      if (row < 0 || fields[0] != last_id)
        row = part.row_index(fields[0], here);  // files are mostly sorted by row
      last_id = fields[0];
      const int col = part.col_index(fields[1], here);
      part.add(row, col, values ? parse_rating(fields[2], here) : 1.0F, fields.line());
      if (options.times) part.time.push_back(parse_time(fields[3], here));
    }
    part.extent = {fields.lines_passed() - before.lines, part.value.size()};
  };
  lines.in_parts<RatingsPart>({.threads = options.threads}, parse,
                              [&](auto& parts, std::size_t expected) { ratings.append(parts, expected); });
  return lines.number() - behind_header;
}

IdPairs read_text_pairs(TextLines& lines, int threads) {
  const FieldLayout<2> layout(lines, "row and column");
  const auto parse = [&](std::string_view piece, const Place& before, PairsPart& part) {
    FieldLines<2> fields(piece, before, layout);
    while (fields.next()) {
      for (const std::size_t k : {0, 1})
        if (fields[k].empty())
          refuse(fields.here(), fmt::format("the id of the {} is empty", k == 0 ? "row" : "column"));
      part.pairs.row.emplace_back(fields[0]);
      part.pairs.col.emplace_back(fields[1]);
    }
    part.extent = {fields.lines_passed() - before.lines, part.pairs.row.size()};
  };
  IdPairs pairs;
  const auto append = [](std::vector<std::string>& all, std::vector<std::string>& ids) {
    all.insert(all.end(), std::make_move_iterator(ids.begin()), std::make_move_iterator(ids.end()));
  };
  lines.in_parts<PairsPart>({.threads = threads}, parse, [&](std::vector<PairsPart>& parts, std::size_t) {
    for (PairsPart& part : parts) {
      append(pairs.row, part.pairs.row);
      append(pairs.col, part.pairs.col);
    }
  });
  const bool header = pairs.row.size() > 1 && is_number(pairs.row[1]) && is_number(pairs.col[1]) &&
                      !is_number(pairs.row[0]) && !is_number(pairs.col[0]);
  if (header) {
    pairs.row.erase(pairs.row.begin());
    pairs.col.erase(pairs.col.begin());
  }
  if (pairs.row.empty()) refuse(lines.name(), "no line has a pair of ids");
  return pairs;
}

}  // namespace pursuit::io
