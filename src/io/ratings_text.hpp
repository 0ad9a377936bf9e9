#pragma once
// Ratings as text: row, column, value, whatever follows.

#include <cstddef>
#include <limits>
#include <string_view>

#include "io/ratings_collector.hpp"
#include "io/text_lines.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::io {

/// The lines of a text that begin at these bytes of it: where that is not all, it must lie in place.
struct TextShare {
  std::size_t from = 0, to = std::numeric_limits<std::size_t>::max();

  bool is_all() const { return from == 0 && to == std::numeric_limits<std::size_t>::max(); }
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
