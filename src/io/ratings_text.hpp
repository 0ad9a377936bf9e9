#pragma once
// Ratings as text: row, column, value, whatever follows.

#include <string_view>

#include "io/ratings_collector.hpp"
#include "io/text_lines.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::io {

void read_text_ratings(TextLines& lines, RatingsCollector& ratings);
IdPairs read_text_pairs(TextLines& lines);

/// A value on the line last read.
float parse_rating(std::string_view text, const TextLines& lines);

}  // namespace pursuit::io
