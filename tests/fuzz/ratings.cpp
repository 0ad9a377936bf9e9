// Whatever the bytes, the readers of ratings return sound entries or throw InvalidInput; entries without
// duplicates are the same under both rules for duplicates.

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fuzz/target.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::fuzz {
namespace {

void require_sound(const Ratings& ratings) {
  const ObservedEntries& entries = ratings.entries;
  require(entries.size() > 0, "there is an entry");
  require(entries.row.size() == entries.value.size() && entries.col.size() == entries.value.size(),
          "rows, columns and values are parallel");
  require(entries.rows == ratings.rows.size() && entries.cols == ratings.cols.size(),
          "every id has an index");
  std::set<std::pair<int, int>> pairs;
  for (std::size_t k = 0; k < entries.value.size(); ++k) {
    require(entries.row[k] >= 0 && entries.row[k] < entries.rows, "rows are in range");
    require(entries.col[k] >= 0 && entries.col[k] < entries.cols, "columns are in range");
    require(std::isfinite(entries.value[k]), "values are finite");
    require(pairs.emplace(entries.row[k], entries.col[k]).second, "no pair is there twice");
  }
  constexpr int kMostLookups = 1000;
  for (int i = 0; i < ratings.rows.size() && i < kMostLookups; ++i) {
    require(!ratings.rows.name(i).empty(), "no id is empty");
    require(ratings.rows.find(ratings.rows.name(i)) == i, "ids are found by their name");
  }
}

std::optional<Ratings> ratings_of(const std::string& path, const RatingsOptions& options) {
  try {
    Ratings ratings = read_ratings(path, options);
    require_sound(ratings);
    return ratings;
  } catch (const InvalidInput&) {
    return std::nullopt;
  }
}

}  // namespace

void read_ratings_files(std::string_view bytes) {
  const MemoryFile file(bytes);
  const std::string path = file.path();
  const auto strict = ratings_of(path, {RatingsOptions::Duplicates::refuse});
  const auto lenient = ratings_of(path, {RatingsOptions::Duplicates::last});
  if (strict) {
    require(lenient.has_value() && strict->entries.value == lenient->entries.value &&
                strict->entries.row == lenient->entries.row && strict->entries.col == lenient->entries.col,
            "without duplicates both rules agree");
  }
  RatingsOptions clicks{.duplicates = RatingsOptions::Duplicates::sum, .clicks = true};
  const auto log = ratings_of(path, clicks);
  clicks.times = true;
  if (const auto timed = ratings_of(path, clicks)) {
    require(timed->time.size() == timed->entries.value.size(), "every click has a time");
    require(log && log->entries.size() == timed->entries.size(), "times leave the clicks as they are");
  }
  try {
    const IdPairs pairs = read_pairs(path);
    require(!pairs.row.empty() && pairs.row.size() == pairs.col.size(), "pairs have two ids");
  } catch (const InvalidInput&) {
  }
}

}  // namespace pursuit::fuzz
