#pragma once
// Made-up ratings of any size, shaped like the real ones: a few rows and columns hold most of the entries.

#include <cstdint>

#include "pursuit/data/observed_entries.hpp"

namespace pursuit {

struct RatingsShape {
  Index rows = 0, cols = 0, entries = 0;
  std::uint64_t seed = 1;
  Index rank = 10;     // of the tastes behind the ratings
  double noise = 0.8;  // standard deviation of what no model can explain
};

/// Half stars from 0.5 to 5: a mean, an offset of the row and of the column, a product of rank `rank`, noise.
/// Every row and every column has an entry where there are enough entries; sorted by row, then by column. The
/// same seed gives the same entries. Throws InvalidArgument for a shape that cannot be.
ObservedEntries generate_ratings(const RatingsShape& shape);

}  // namespace pursuit
