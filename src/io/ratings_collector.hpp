#pragma once
// Where the readers of ratings put what they find.

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pursuit/io/ratings_file.hpp"

namespace pursuit::io {

class RatingsCollector {
 public:
  /// The tables may be null. `name` is for messages.
  RatingsCollector(std::string name, const RatingsOptions& options, const IdTable* known_rows,
                   const IdTable* known_cols);

  const std::string& name() const { return name_; }
  Index size() const { return ratings_.entries.size(); }

  /// The index of a row or column. Throws InvalidInput("<where()>: ...") for an id that cannot be one.
  template <class Where>
  int row(std::string_view id, const Where& where) {
    return index_of(id, ratings_.rows, "row", where);
  }
  template <class Where>
  int col(std::string_view id, const Where& where) {
    return index_of(id, ratings_.cols, "column", where);
  }

  /// `line` is that of the file, 0 in files that have none.
  void add(int row, int col, float value, std::size_t line) {
    ObservedEntries& entries = ratings_.entries;
    if (line != 0 && line != entries.value.size() + line_offset_) [[unlikely]]
      note_line(line);
    entries.row.push_back(row);
    entries.col.push_back(col);
    entries.value.push_back(value);
  }

  /// For files that number rows and columns instead of naming them: all entries so far were added by their
  /// position from 0; names the positions "first", "first + 1", ... and takes the entries to these names.
  void name_positions(Index first, Index rows, Index cols);

  /// Deals with duplicates. Throws InvalidInput where there is no entry.
  Ratings finish();

 private:
  template <class Where>
  int index_of(std::string_view id, IdTable& table, const char* what, const Where& where) {
    const int before = table.size();
    const int index = table.add(id);
    if (index == before) [[unlikely]]
      require_usable(id, what, where());
    return index;
  }

  static void require_usable(std::string_view id, const char* what, const std::string& where);
  void note_line(std::size_t line);
  std::size_t line_of(std::size_t entry) const;
  [[noreturn]] void refuse_duplicate(int row, int col) const;

  std::string name_;
  RatingsOptions options_;
  Ratings ratings_;
  // Entries do not remember their lines. As long as every line holds an entry the line is the entry's number
  // plus an offset; noted is only where the offset changes.
  std::size_t line_offset_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> offsets_;  // entry, offset from there on
};

/// The value as it is kept; false unless it is finite, as a float too.
inline bool to_rating(double value, float& rating) {
  rating = static_cast<float>(value);
  return std::isfinite(rating);
}

/// Says why to_rating() refused. `text` is how the file writes the value.
[[noreturn]] void refuse_rating(double value, std::string_view text, const std::string& where);

}  // namespace pursuit::io
