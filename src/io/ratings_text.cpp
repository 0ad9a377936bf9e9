#include "io/ratings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/defect.hpp"
#include "io/field_cutter.hpp"
#include "io/number_text.hpp"
#include "io/table_layout.hpp"

namespace pursuit::io {

namespace {

/// The lines of a file, cut into as many fields as are needed.
template <std::size_t kNeeded>
class FieldLines {
 public:
  FieldLines(TextLines& lines, const char* needed) : lines_(lines), needed_(needed), cutter_(first_line()) {}

  /// Cuts the next line that holds anything; false at the end of the file.
  bool next() {
    if (!first_ && !lines_.next_filled(line_)) return false;
    first_ = false;
    const std::size_t count = cutter_.cut(line_, fields_);
    if (count < kNeeded || !cutter_.defect().empty()) [[unlikely]]
      refuse_line(count);
    return true;
  }

  std::string_view operator[](std::size_t k) const { return fields_[k]; }

 private:
  FieldCutter first_line() {
    if (!lines_.next_filled(line_)) refuse(lines_.name(), "the file holds only blank lines");
    reference_ = lines_.number();
    return FieldCutter(line_, kNeeded);
  }

  [[noreturn]] void refuse_line(std::size_t count) const {
    if (!cutter_.defect().empty()) refuse(lines_.here(), cutter_.defect());
    const std::string few = fmt::format("the line {} has {} {}; needed are {}", shown(line_), count,
                                        count == 1 ? "field" : "fields", needed_);
    if (lines_.number() == reference_)
      refuse(lines_.here(), few + ", separated by tabs, '::', ',', ';' or blanks");
    std::array<std::string_view, kNeeded> fields;
    FieldCutter other(line_, kNeeded);
    if (other.cut(line_, fields) == kNeeded) {
      refuse(lines_.here(),
             fmt::format("the fields are separated by {}, but on line {} by {}; a file must use "
                         "one separator",
                         shown(other.separator()), reference_, shown(cutter_.separator())));
    }
    refuse(lines_.here(),
           fmt::format("{}, separated by {} as on line {}", few, shown(cutter_.separator()), reference_));
  }

  TextLines& lines_;
  const char* needed_;
  std::string_view line_;
  std::size_t reference_ = 0;  // the line that the separator was found from
  bool first_ = true;
  FieldCutter cutter_;
  std::array<std::string_view, kNeeded> fields_;
};

/// Most ratings are like 4 or 3.5: few digits, whose value one exact division gives as rounded as any parser.
bool parse_short_decimal(std::string_view text, double& value) {
  constexpr std::array<double, 9> kPowers = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
  if (text.empty() || text.size() > kPowers.size()) return false;
  std::uint32_t digits = 0;
  std::size_t point = text.size() - 1;  // none: as if behind the last digit
  bool has_point = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto digit = static_cast<unsigned>(text[k] - '0');
    if (digit <= 9) {
      digits = 10 * digits + digit;
    } else if (text[k] == '.' && !has_point && text.size() > 1) {
      has_point = true;
      point = k;
    } else {
      return false;
    }
  }
  value = static_cast<double>(digits) / kPowers[text.size() - 1 - point];
  return true;
}

[[noreturn]] void refuse_value(std::string_view text, const TextLines& lines) {
  if (text.empty()) refuse(lines.here(), "the value is missing; a number is needed");
  if (text.find(',') != std::string_view::npos && is_number(text)) {
    refuse(lines.here(),
           fmt::format("the value {} is not a number: a decimal comma is not understood, only a "
                       "decimal point",
                       shown(text)));
  }
  refuse(lines.here(), fmt::format("the value {} is not a number", shown(text)));
}

}  // namespace

float parse_rating(std::string_view text, const TextLines& lines) {
  double value = 0;
  if (!parse_short_decimal(text, value) && !parse_whole_number(text, value)) refuse_value(text, lines);
  float rating = 0;
  if (!to_rating(value, rating)) refuse_rating(value, text, lines.here());
  return rating;
}

void read_text_ratings(TextLines& lines, RatingsCollector& ratings) {
  FieldLines<3> fields(lines, "row, column and value");
  const auto here = [&] { return lines.here(); };
  const auto add = [&] {
    const int row = ratings.row(fields[0], here), col = ratings.col(fields[1], here);
    ratings.add(row, col, parse_rating(fields[2], lines), lines.number());
  };
  fields.next();
  const bool header = kind_of(fields[2]) == CellKind::kName && !is_number(fields[0]) && !is_number(fields[1]);
  if (!header) add();
  while (fields.next()) add();
  if (ratings.size() == 0) refuse(lines.name(), "the file has a header line, but no line with an entry");
}

IdPairs read_text_pairs(TextLines& lines) {
  FieldLines<2> fields(lines, "row and column");
  IdPairs pairs;
  while (fields.next()) {
    for (const std::size_t k : {0, 1})
      if (fields[k].empty())
        refuse(lines.here(), fmt::format("the id of the {} is empty", k == 0 ? "row" : "column"));
    if (pairs.row.size() == 1 && is_number(fields[0]) && is_number(fields[1]) && !is_number(pairs.row[0]) &&
        !is_number(pairs.col[0])) {
      pairs = {};  // that was the header
    }
    pairs.row.emplace_back(fields[0]);
    pairs.col.emplace_back(fields[1]);
  }
  return pairs;
}

}  // namespace pursuit::io
