// Feeds arbitrary bytes to the readers of ratings. Whatever the bytes, they must return sound entries or
// throw InvalidInput; entries without duplicates must be the same under both rules for duplicates.
//
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I include -I src -isystem <eigen>
//     tests/fuzz/fuzz_read_ratings.cpp $(ls src/io/*.cpp | grep -vE "_test|_bench")
//     build/release/libpursuit.a -lopenblas -lfmt -lz -o fuzz_read_ratings
//   mkdir corpus
//   ./fuzz_read_ratings -dict=tests/fuzz/read_matrix.dict -max_total_time=180 corpus tests/fuzz/seeds_ratings

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "memory_file.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit {
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

std::optional<Ratings> read(const std::string& path, RatingsOptions::Duplicates duplicates) {
  try {
    Ratings ratings = read_ratings(path, {duplicates});
    require_sound(ratings);
    return ratings;
  } catch (const InvalidInput&) {
    return std::nullopt;
  }
}

void read_anything(const std::string& path) {
  const auto strict = read(path, RatingsOptions::Duplicates::refuse);
  const auto lenient = read(path, RatingsOptions::Duplicates::last);
  if (strict) {
    require(lenient.has_value() && strict->entries.value == lenient->entries.value &&
                strict->entries.row == lenient->entries.row && strict->entries.col == lenient->entries.col,
            "without duplicates both rules agree");
  }
  try {
    const IdPairs pairs = read_pairs(path);
    require(!pairs.row.empty() && pairs.row.size() == pairs.col.size(), "pairs have two ids");
  } catch (const InvalidInput&) {
  }
}

}  // namespace
}  // namespace pursuit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const pursuit::MemoryFile file(data, size);
  pursuit::read_anything(file.path());
  return 0;
}
