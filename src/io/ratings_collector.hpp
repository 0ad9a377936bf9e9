#pragma once
// Where the readers of ratings put what they find.

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/entries_part.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::io {

/// Entries of a piece of a file, with ids of its own; or with positions, counted from 0, and no ids.
struct RatingsPart : EntriesPart<float> {
  IdTable rows, cols;
  PlainVector<double> time;  // where it is asked for

  /// The index of a row or column. Throws InvalidInput("<where()>: ...") for an id that cannot be one.
  template <class Where>
  int row_index(std::string_view id, const Where& where) {
    return index_of(id, rows, "row", where);
  }
  template <class Where>
  int col_index(std::string_view id, const Where& where) {
    return index_of(id, cols, "column", where);
  }

 private:
  template <class Where>
  static int index_of(std::string_view id, IdTable& table, const char* what, const Where& where) {
    const int before = table.size();
    const int index = table.add(id);
    if (index == before) [[unlikely]]
      require_usable(id, what, where);
    return index;
  }
  template <class Where>
  static void require_usable(std::string_view id, const char* what, const Where& where) {
    if (!is_usable(id)) refuse_id(id, what, where());
  }
  static bool is_usable(std::string_view id);
  [[noreturn]] static void refuse_id(std::string_view id, const char* what, const std::string& where);
};

class RatingsCollector {
 public:
  /// The tables may be null. `name` is for messages.
  RatingsCollector(std::string name, const RatingsOptions& options, const IdTable* known_rows,
                   const IdTable* known_cols);

  const std::string& name() const { return name_; }
  /// What follows is of another file.
  void begin_file(std::string name) {
    found_.files.emplace_back(found_.ratings.entries.value.size(), std::move(name));
  }
  Index size() const { return found_.ratings.entries.size(); }
  void values_are_counts() { found_.ratings.counts = true; }

  /// Appends parts in this order; new ids follow the known ones as they would if all were one part.
  /// `expected` is how many entries are to be expected in all.
  void append(const std::vector<RatingsPart>& parts, std::size_t expected = 0);

  /// For files that number rows and columns instead of naming them: all entries so far were added by their
  /// position from 0; names the positions "first", "first + 1", ... and takes the entries to these names.
  void name_positions(Index first, Index rows, Index cols);

  /// What there is so far, which others may go on with.
  struct Found {
    Ratings ratings;
    EntryLines lines;
    std::vector<std::pair<std::size_t, std::string>> files;  // first entry, name; none where there is one
  };
  Found release() { return std::move(found_); }
  void take(Found found) { found_ = std::move(found); }

  /// Deals with duplicates. Throws InvalidInput where there is no entry.
  Ratings finish();

 private:
  [[noreturn]] void refuse_duplicate(int row, int col) const;

  std::string name_;
  RatingsOptions options_;
  int threads_;
  Found found_;
};

/// Where an entry came from.
struct EntryOrigin {
  std::size_t entry = 0;  // its number in all of the file, from 0
  std::size_t line = 0;   // 0 where the file has no lines
  std::string file;
};
/// `name` where there is one file.
EntryOrigin origin_of(std::size_t entry, const RatingsCollector::Found& found, const std::string& name);

/// Throws InvalidInput: these two are of the same row and column.
[[noreturn]] void refuse_twice(const EntryOrigin& first, const EntryOrigin& second, std::string_view row,
                               std::string_view col);

/// The value as it is kept; false unless it is finite, as a float too.
inline bool to_rating(double value, float& rating) {
  rating = static_cast<float>(value);
  return std::isfinite(rating);
}

/// Says why to_rating() refused. `text` is how the file writes the value.
[[noreturn]] void refuse_rating(double value, std::string_view text, const std::string& where);

}  // namespace pursuit::io
