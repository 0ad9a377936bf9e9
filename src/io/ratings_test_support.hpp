#pragma once
// What the tests of ratings share.

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "io/test_support.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::io {

/// Values by the ids of row and column.
using RatingsById = std::map<std::pair<std::string, std::string>, float>;

inline RatingsById by_id(const Ratings& ratings) {
  RatingsById values;
  const ObservedEntries& entries = ratings.entries;
  for (std::size_t k = 0; k < entries.value.size(); ++k) {
    const bool added =
        values
            .emplace(std::pair(ratings.rows.name(entries.row[k]), ratings.cols.name(entries.col[k])),
                     entries.value[k])
            .second;
    EXPECT_TRUE(added) << "a pair is there twice";
  }
  return values;
}

inline Ratings read_content(std::string_view content, const RatingsOptions& options = {},
                            const IdTable* known_rows = nullptr, const IdTable* known_cols = nullptr) {
  const ScratchDirectory scratch;
  return read_ratings(scratch.with("r", content), options, known_rows, known_cols);
}

/// The message that a file of this content is refused with, from the line number on where there is one.
inline std::string refusal(std::string_view content) {
  const ScratchDirectory scratch;
  const std::filesystem::path path = scratch.with("r", content);
  std::string message = message_of<InvalidInput>([&] { read_ratings(path); });
  EXPECT_THAT(message, testing::HasSubstr(path.string()));
  if (message.starts_with(path.string())) message.erase(0, path.string().size() + 2);
  return message;
}

constexpr RatingsOptions kLast = {RatingsOptions::Duplicates::last};

}  // namespace pursuit::io
