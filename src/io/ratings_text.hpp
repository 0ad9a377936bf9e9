#pragma once
// Ratings as text: row, column, value, whatever follows.

#include <string_view>

#include "io/ratings_collector.hpp"
#include "io/text_lines.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::io {

/// One of so many parts of a text, which must lie in place where there are several.
struct TextShare {
  int part = 0, parts = 1;
};

/// Returns how many lines with or without an entry were read, a header aside.
std::size_t read_text_ratings(TextLines& lines, const RatingsOptions& options, RatingsCollector& ratings,
                              const TextShare& share = {});
IdPairs read_text_pairs(TextLines& lines, int threads);

/// As pursuit::parse_time().
double parse_time_text(const std::string& text);

/// Says why a field holds no value.
[[noreturn]] void refuse_value(std::string_view text, const std::string& where);

/// The value that a field holds; throws InvalidInput("<where()>: ...") where it holds none.
template <class Where>
float parse_rating(std::string_view text, const Where& where) {
  double value = 0;
  float rating = 0;
  if (!parse_whole_number(text, value) || !to_rating(value, rating)) [[unlikely]]
    refuse_value(text, where());
  return rating;
}

}  // namespace pursuit::io
