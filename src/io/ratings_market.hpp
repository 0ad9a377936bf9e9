#pragma once
// Ratings as a MatrixMarket coordinate file. Unlike matrix_market.hpp this reads line by line, keeps explicit
// zeros apart from what is not stored, and leaves duplicates to the collector.

#include "io/ratings_collector.hpp"
#include "io/text_lines.hpp"

namespace pursuit::io {

void read_market_ratings(TextLines& lines, RatingsCollector& ratings);

}  // namespace pursuit::io
