#include "pursuit/io/features_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "io/byte_source.hpp"
#include "io/cell_scanner.hpp"
#include "io/defect.hpp"
#include "io/matrix_market.hpp"
#include "io/npy_header.hpp"
#include "io/number_text.hpp"
#include "io/ratings_collector.hpp"
#include "io/ratings_text.hpp"
#include "io/table_layout.hpp"
#include "io/text_lines.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit {
namespace io {
namespace {

using Fields = std::vector<std::string>;

bool reads(const std::string& field, std::string_view word) {
  return std::equal(field.begin(), field.end(), word.begin(), word.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

/// The lines of a text, every one cut into all its fields.
class Cells {
 public:
  explicit Cells(TextLines& lines) : lines_(lines) {
    if (!lines.next_filled(line_)) refuse(lines.name(), "the file holds only blank lines");
    separator_ = find_separator(line_, 2);
    lines.step_back();
  }

  /// False at the end of the file.
  bool next(Fields& fields) {
    if (!lines_.next_filled(line_)) return false;
    CellScanner cells(line_, separator_, CellScanner::Quotes::end_with_line, &lines_.name(),
                      lines_.number() - 1);
    cells.seek_record();
    fields.clear();
    while (cells.has_cell()) fields.emplace_back(cells.next_cell().text);
    return true;
  }

  std::string here() const { return lines_.here(); }
  std::size_t line() const { return lines_.number(); }
  const std::string& name() const { return lines_.name(); }

 private:
  TextLines& lines_;
  std::string_view line_;
  Separator separator_;
};

void read_lines(Cells& cells, Fields fields, RatingsPart& features) {
  const auto here = [&] { return cells.here(); };
  do {
    if (fields.size() != 3)
      refuse(cells.here(), fmt::format("{} fields; needed are three: id, feature and value", fields.size()));
    const int member = features.row_index(fields[0], here), feature = features.col_index(fields[1], here);
    features.add(member, feature, parse_rating(fields[2], here), cells.line());
  } while (cells.next(fields));
}

float parse_cell(const std::string& text, const std::string& feature, const Cells& cells) {
  const auto refuse_cell = [&](const std::string& why) {
    refuse(cells.here(), fmt::format("feature {} {}", shown(feature), why));
  };
  double value = 0;
  float kept = 0;
  if (kind_of(text) == CellKind::kMissing)
    refuse_cell(
        fmt::format("is missing ({}); every cell of a table of features must be a number", shown(text)));
  if (!parse_whole_number(text, value))
    refuse_cell(
        fmt::format("is {}, not a number; if these are lines of id, feature and value, their header must be "
                    "\"id,feature,value\", or none",
                    shown(text)));
  if (!to_rating(value, kept)) refuse_rating(value, text, cells.here());
  return kept;
}

void read_table(Cells& cells, Fields header, RatingsPart& features) {
  const auto here = [&] { return cells.here(); };
  Fields fields;
  if (!cells.next(fields)) refuse(cells.name(), "the file has a header line, but no line with features");
  if (fields.size() != header.size() + 1) header.erase(header.begin());  // R leaves out the name of the ids
  for (std::size_t f = 0; f < header.size(); ++f)
    if (features.col_index(header[f], here) != int(f))
      refuse(cells.name(), fmt::format("feature {} is named twice", shown(header[f])));
  std::vector<char> given;
  do {
    if (fields.size() != header.size() + 1)
      refuse(cells.here(), fmt::format("{} fields; needed are {}: an id and {} features", fields.size(),
                                       header.size() + 1, header.size()));
    const int member = features.row_index(fields[0], here);
    given.resize(std::max(given.size(), std::size_t(member) + 1), 0);
    if (std::exchange(given[std::size_t(member)], char(1)) != 0)
      refuse(cells.here(),
             fmt::format("the id {} has features on an earlier line already; a table has one line for each",
                         shown(fields[0])));
    for (std::size_t f = 0; f < header.size(); ++f)
      if (const float value = parse_cell(fields[f + 1], header[f], cells); value != 0)
        features.add(member, int(f), value, cells.line());
  } while (cells.next(fields));
}

/// Whether it was a table.
bool read_text(TextLines& lines, RatingsPart& features) {
  Cells cells(lines);
  Fields first;
  cells.next(first);
  const std::size_t count = first.size();
  const bool has_header = count == 3
                              ? !is_number(first[2])
                              : std::any_of(first.begin() + 1, first.end(),
                                            [](const std::string& field) { return !is_number(field); });
  if (!has_header && count != 3)
    refuse(cells.here(),
           fmt::format("{} fields and no header: a table of features needs a first line that names them, "
                       "and lines of id, feature and value have three fields",
                       count));
  const bool lines_header =
      has_header && count == 3 && reads(first[1], "feature") && reads(first[2], "value");
  if (has_header && !lines_header) {
    read_table(cells, std::move(first), features);
    return true;
  }
  if (lines_header && !cells.next(first))
    refuse(lines.name(), "the file has a header line, but no line with a feature");
  read_lines(cells, std::move(first), features);
  return false;
}

}  // namespace
}  // namespace io

FeatureFile read_features(const std::filesystem::path& path, IdTable& members) {
  FeatureFile file;
  Ratings read;
  io::ByteSource source(path);
  const std::string_view head = source.head();
  if (io::is_npy(head) || io::is_zip(head) || io::looks_like_matrix_market(head)) {
    read = read_ratings(path, {}, &members, nullptr);
  } else {
    io::TextLines lines(source);
    std::vector<io::RatingsPart> features(1);
    file.is_table = io::read_text(lines, features.front());
    if (features.front().value.empty()) io::refuse(source.name(), "all features are zero");
    io::RatingsCollector collector(source.name(), {}, &members, nullptr);
    collector.append(features);
    read = collector.finish();
  }
  std::vector<char> spoken_of(std::size_t(read.rows.size()), 0);
  for (const int member : read.entries.row) spoken_of[std::size_t(member)] = 1;
  file.members = std::count(spoken_of.begin(), spoken_of.end(), 1);
  file.names = read.cols.names();
  members = std::move(read.rows);
  file.table = std::move(read.entries);
  file.table.rows = members.size();
  file.table.cols = Index(file.names.size());
  return file;
}

}  // namespace pursuit
