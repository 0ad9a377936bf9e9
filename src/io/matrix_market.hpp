#pragma once
// MatrixMarket text: "coordinate" files are sparse, "array" files dense. Real, integer and pattern entries (a
// pattern's entries are 1), stored in full or as the lower triangle of a symmetric or skew-symmetric matrix.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/entries_part.hpp"
#include "io/market_header.hpp"
#include "io/ratings_collector.hpp"
#include "io/stored_matrix.hpp"
#include "io/text_lines.hpp"
#include "io/text_writer.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

/// Whether the text starts like a MatrixMarket file, however badly it may go on.
bool looks_like_matrix_market(std::string_view text);

/// Throws InvalidInput naming the line for whatever is wrong. The sizes that the header promises are checked
/// against the length of the text, where that is known, before anything is allocated. Two entries of the same
/// position are an error: whether they should be summed or one of them is a slip, only the author of the file
/// knows.
StoredMatrix read_matrix_market(TextLines& lines, int threads);

// What read_matrix_market() does with a coordinate file, step by step, for those that read a part of it each.

/// Entries as the file lists them, and their lines.
struct MarketPart {
  Entries<double> entries;
  EntryLines lines;
};

/// Appends all that the lines have left, of a file with so many entries in parts before them; refused where
/// there are more than the header promises.
void read_market_part(TextLines& lines, const MarketHeader& header, int threads, MarketPart& all,
                      std::size_t entries_before = 0);

/// Refuses another number of entries than the header promises.
void require_promised(const std::string& name, const MarketHeader& header, std::size_t read);

/// The other triangle of a matrix that is stored as one.
void add_mirror_images(const MarketHeader& header, Entries<double>& entries);

/// An entry as a file gives it: its place, from 1, and its line.
struct GivenEntry {
  int row = 0, column = 0;
  std::size_t line = 0;
};
/// The first two of a part that stand for a position, counted from 0; fewer where it has no more.
std::vector<GivenEntry> entries_given_for(std::pair<int, int> position, const MarketHeader& header,
                                          const MarketPart& part);
[[noreturn]] void refuse_market_duplicate(const std::string& name, const MarketHeader& header,
                                          const GivenEntry& first, const GivenEntry& second);

/// "coordinate real general" for sparse matrices, "array real general" for dense ones.
void write_matrix_market(TextWriter& writer, const AnyMatrix& matrix);

/// Observed entries: of "coordinate" files of real or integer entries, stored in full. What is not stored is
/// unknown; duplicates are left to the collector.
void read_market_ratings(TextLines& lines, int threads, RatingsCollector& ratings);

}  // namespace pursuit::io
