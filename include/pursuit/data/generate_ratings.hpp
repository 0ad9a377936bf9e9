#pragma once
// Made-up ratings of any size, shaped like the real ones: a few rows and columns hold most of the entries.

#include <cstdint>
#include <filesystem>

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

/// Text in the format of the extension: `row::col::value::0` for .dat, `row,col,value` under a header for
/// .csv; ids count from 1. The file appears whole or not at all. Throws InvalidArgument for another
/// extension, OutputFailure where it cannot be written.
void write_ratings(const std::filesystem::path& path, const ObservedEntries& entries);

/// Throws InvalidArgument unless write_ratings() knows the extension; asked before long work.
void require_ratings_extension(const std::filesystem::path& path);

}  // namespace pursuit
