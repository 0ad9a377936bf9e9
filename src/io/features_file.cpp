#include "pursuit/io/features_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

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

float parse_cell(const std::string& text, const std::string& feature, const std::string& where) {
  const auto refuse_cell = [&](const std::string& why) {
    refuse(where, fmt::format("feature {} {}", shown(feature), why));
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
  if (!to_rating(value, kept)) refuse_rating(value, text, where);
  return kept;
}

/// The lines of a table below its header.
class Table {
 public:
  Table(Cells& cells, Fields header) : name_(cells.name()), header_(std::move(header)) {
    Fields fields;
    if (!cells.next(fields)) refuse(name_, "the file has a header line, but no line with features");
    if (fields.size() != header_.size() + 1) header_.erase(header_.begin());  // R leaves out the name of ids
    do {
      if (fields.size() != header_.size() + 1)
        refuse(cells.here(), fmt::format("{} fields; needed are {}: an id and {} features", fields.size(),
                                         header_.size() + 1, header_.size()));
      lines_.push_back({std::move(fields), cells.line(), cells.here()});
    } while (cells.next(fields));
  }

  /// Three columns of which the second is text and the third a number may be lines of id, feature and value
  /// under words of their own: they are where an id comes again, for a table has one line for each.
  bool is_lines() const {
    if (header_.size() != 2 || !is_text(0) || is_text(1)) return false;
    std::unordered_set<std::string_view> ids;
    for (const Line& line : lines_)
      if (!ids.insert(line.fields[0]).second) return true;
    for (const char* word : {"value", "weight", "count", "score", "amount"})
      if (reads(header_[1], word)) parse_cell(lines_[0].fields[1], header_[0], lines_[0].where);
    return false;
  }

  void read_lines(RatingsPart& features) const {
    for (const Line& line : lines_) {
      const auto here = [&] { return line.where; };
      const int member = features.row_index(line.fields[0], here);
      features.add(member, features.col_index(line.fields[1], here), parse_rating(line.fields[2], here),
                   line.number);
    }
  }

  /// A column of numbers is a feature; one of text is a feature for every word that occurs in it, "a|b|c"
  /// being three of them, unless no two members share one: that says nothing of anybody else.
  void read_columns(RatingsPart& features, std::vector<std::string>& left_out) const {
    std::vector<char> given;
    std::vector<int> member;
    for (const Line& line : lines_) {
      member.push_back(features.row_index(line.fields[0], [&] { return line.where; }));
      given.resize(std::max(given.size(), std::size_t(member.back()) + 1), 0);
      if (std::exchange(given[std::size_t(member.back())], char(1)) != 0)
        refuse(line.where,
               fmt::format("the id {} has features on an earlier line already; a table has one line for each",
                           shown(line.fields[0])));
    }
    for (std::size_t f = 0; f < header_.size(); ++f)
      if (std::find(header_.begin(), header_.begin() + std::ptrdiff_t(f), header_[f]) !=
          header_.begin() + std::ptrdiff_t(f))
        refuse(name_, fmt::format("feature {} is named twice", shown(header_[f])));
    std::vector<std::pair<std::size_t, int>> numbers;  // columns, and the feature that each is
    for (std::size_t f = 0; f < header_.size(); ++f)
      if (!is_text(f)) numbers.emplace_back(f, features.col_index(header_[f], [&] { return name_; }));
    for (std::size_t k = 0; k < lines_.size(); ++k)
      for (const auto& [f, feature] : numbers)
        if (const float value = parse_cell(lines_[k].fields[f + 1], header_[f], lines_[k].where); value != 0)
          features.add(member[k], feature, value, lines_[k].number);
    for (std::size_t f = 0; f < header_.size(); ++f)
      if (is_text(f)) read_words(f, member, features, left_out);
  }

 private:
  struct Line {
    Fields fields;
    std::size_t number;
    std::string where;
  };

  /// Most of its cells are no numbers.
  bool is_text(std::size_t f) const {
    std::size_t words = 0, numbers = 0;
    for (const Line& line : lines_) {
      const CellKind kind = kind_of(line.fields[f + 1]);
      words += kind == CellKind::kName;
      numbers += kind == CellKind::kNumber;
    }
    return words > numbers;
  }

  void read_words(std::size_t f, const std::vector<int>& member, RatingsPart& features,
                  std::vector<std::string>& left_out) const {
    std::vector<std::vector<std::string>> words(lines_.size());
    std::unordered_map<std::string, Index> uses;
    for (std::size_t k = 0; k < lines_.size(); ++k) {
      const std::string& cell = lines_[k].fields[f + 1];
      for (std::size_t first = 0; first <= cell.size();) {
        const std::size_t last = std::min(cell.find('|', first), cell.size());
        std::string word = cell.substr(first, last - first);
        if (kind_of(word) != CellKind::kMissing &&
            std::find(words[k].begin(), words[k].end(), word) == words[k].end()) {
          ++uses[word];
          words[k].push_back(std::move(word));
        }
        first = last + 1;
      }
    }
    const bool shared = std::any_of(uses.begin(), uses.end(), [](const auto& use) { return use.second > 1; });
    if (!shared) {
      left_out.push_back(header_[f]);
      return;
    }
    for (std::size_t k = 0; k < lines_.size(); ++k)
      for (const std::string& word : words[k])
        features.add(member[k], features.col_index(header_[f] + '=' + word, [&] { return lines_[k].where; }),
                     1.0F, lines_[k].number);
  }

  const std::string name_;
  Fields header_;
  std::vector<Line> lines_;
};

/// A line of names: none of them is a number, but for three fields, where the first two may be, or all but
/// the ids' name are.
bool is_header(const Fields& first) {
  if (first.empty()) return false;  // nothing but blank lines
  return first.size() == 3 ? !is_number(first[2])
                           : std::any_of(first.begin() + 1, first.end(),
                                         [](const std::string& field) { return !is_number(field); });
}

void read_text(TextLines& lines, RatingsPart& features, FeatureFile& file) {
  Cells cells(lines);
  Fields first;
  cells.next(first);
  const bool has_header = is_header(first);
  const bool is_list = std::any_of(first.begin(), first.end(), [](const std::string& field) {
    return field.find('|') != std::string::npos;
  });
  if ((!has_header && first.size() != 3) || is_list)
    refuse(cells.here(),
           fmt::format("{} fields and no header: a table of features needs a first line that names them, "
                       "and lines of id, feature and value have three fields",
                       first.size()));
  const bool lines_header =
      has_header && first.size() == 3 && reads(first[1], "feature") && reads(first[2], "value");
  if (has_header && !lines_header) {
    const Table table(cells, std::move(first));
    file.is_table = !table.is_lines();
    if (file.is_table)
      table.read_columns(features, file.left_out);
    else
      table.read_lines(features);
    return;
  }
  if (lines_header && !cells.next(first))
    refuse(lines.name(), "the file has a header line, but no line with a feature");
  read_lines(cells, std::move(first), features);
}

}  // namespace
}  // namespace io

namespace {

FeatureFile finished(FeatureFile file, Ratings read, IdTable& members) {
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

FeatureFile read_text_features(io::ByteSource& source, IdTable& members) {
  FeatureFile file;
  io::TextLines lines(source);
  std::vector<io::RatingsPart> features(1);
  io::read_text(lines, features.front(), file);
  if (features.front().value.empty())
    io::refuse(source.name(), file.left_out.empty()
                                  ? "all features are zero"
                                  : fmt::format("column {} is text of which no two lines share a word, and "
                                                "there is no other feature",
                                                io::shown(file.left_out.front())));
  io::RatingsCollector collector(source.name(), {}, &members, nullptr);
  collector.append(features);
  return finished(std::move(file), collector.finish(), members);
}

}  // namespace

FeatureFile read_features(const std::filesystem::path& path, IdTable& members) {
  io::ByteSource source(path);
  const std::string_view head = source.head();
  if (io::is_npy(head) || io::is_zip(head) || io::looks_like_matrix_market(head))
    return finished({}, read_ratings(path, {}, &members, nullptr), members);
  return read_text_features(source, members);
}

FeatureFile read_features_text(std::string_view text, const std::string& name, IdTable& members) {
  io::ByteSource source(text, name);
  return read_text_features(source, members);
}

FeatureFile merged(const FeatureFile& old, const FeatureFile& fresh) {
  IdTable names(old.names);
  std::vector<char> is_fresh(std::size_t(std::max(old.table.rows, fresh.table.rows)), 0);
  for (const int member : fresh.table.row) is_fresh[std::size_t(member)] = 1;
  FeatureFile result = fresh;
  result.table = {};
  const auto take = [&](const FeatureTable& table, std::size_t e, int feature) {
    result.table.row.push_back(table.row[e]);
    result.table.col.push_back(feature);
    result.table.value.push_back(table.value[e]);
  };
  for (std::size_t e = 0; e < old.table.row.size(); ++e)
    if (is_fresh[std::size_t(old.table.row[e])] == 0) take(old.table, e, old.table.col[e]);
  for (std::size_t e = 0; e < fresh.table.row.size(); ++e)
    take(fresh.table, e, names.add(fresh.names[std::size_t(fresh.table.col[e])]));
  std::fill(is_fresh.begin(), is_fresh.end(), char(0));
  for (const int member : result.table.row) is_fresh[std::size_t(member)] = 1;
  result.members = std::count(is_fresh.begin(), is_fresh.end(), 1);
  result.names = names.names();
  result.table.rows = Index(is_fresh.size());
  result.table.cols = names.size();
  return result;
}

}  // namespace pursuit
