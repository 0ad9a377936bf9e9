#pragma once
// Files of observed entries, for completion: what a file does not hold is unknown, a zero in it was observed.
//
//   text         row, column, value and anything behind, one entry a line; set apart by tabs, "::", ',', ';'
//                or blanks; with or without a header line; plain or gzip. This covers MovieLens' u.data,
//                ratings.dat and ratings.csv.
//   MatrixMarket coordinate files, plain or gzip; rows and columns are named "1", "2", ...
//   SciPy sparse .npz: stored is observed; rows and columns are named "0", "1", ...
//   dense .npy   NaN is unknown; named like those of .npz
//
// The format is detected from the content. Text is read in blocks, on all cores: a file needs the memory of
// its entries, not of its text. It may come in several files, the parts of one (parts_of()); ranks read a
// part of each at the same time. Every defect is an InvalidInput naming the file, the line and the value.

#include <filesystem>
#include <string>
#include <vector>

#include "pursuit/data/ranked_entries.hpp"
#include "pursuit/io/id_table.hpp"

namespace pursuit {

class RankTeam;

struct RatingsOptions {
  /// What to do where a file holds the same row and column again: the last value counts, or their sum.
  enum class Duplicates { refuse, last, sum };
  Duplicates duplicates = Duplicates::refuse;
  int threads = 0;  // 0: all cores
  std::vector<std::string> columns =
      {};  // of text: where row, column and value are, and as a fourth the time,
           // names of the header or numbers from 1; by default see read_ratings()
  bool times =
      false;  // whether times are needed: of the column named so, or the fourth where none has a name
  bool clicks = false;       // lines of text may have no value, and count 1 then
  RankTeam* team = nullptr;  // ranks that read text, which all of them find under the path; rank 0 calls
};

struct Ratings {
  ObservedEntries entries;
  IdTable rows, cols;
  std::vector<double> time = {};  // of every entry, where times were asked for: numbers as they are, dates
                                  // (2005-01-31, 2005-01-31 12:30:00) as seconds since 1970
  bool counts = false;  // clicks whose values say how often: lines had none, or a header calls them so
};

/// The files that a path means, in their order: itself; the files of a folder, by name, but for empty ones
/// and those whose name begins with '.' or '_'; those that match a pattern such as ratings-*.csv, by name; or
/// those of a list, a.csv,b.csv. InvalidInput where there are none.
std::vector<std::filesystem::path> parts_of(const std::filesystem::path& path);

/// Several files (parts_of()) are read as if they were one, each under a header of its own or none.
/// Ids of `known_rows` and `known_cols` (those of a model or of a training file) keep their indices, new ones
/// follow. A first line of text is a header if its third field is no number and its first two are none
/// either. Under a header that has a column called rating, value or the like, that one holds the values, and
/// those called user and item, or the first two that are no times, the rows and columns; under any other, and
/// under none, the first three fields are row, column and value. Clicks have no value where lines have two
/// fields, or where a header calls the third one a time and none a value or a count; a first line of two
/// fields is a header if one of them is a word for rows or columns, such as user or item.
Ratings read_ratings(const std::filesystem::path& path, const RatingsOptions& options = {},
                     const IdTable* known_rows = nullptr, const IdTable* known_cols = nullptr);

/// The same by the ranks of options.team, of which there must be several, with entries that stay with those
/// who have read them; what comes through a pipe is rank 0's. One that comes twice is refused when they are
/// used; times are not known.
struct RankedRatings {
  RankedEntries entries;
  IdTable rows, cols;
  bool counts = false;  // as in Ratings
};
RankedRatings read_ratings_apart(const std::filesystem::path& path, const RatingsOptions& options);

/// A time as text has it: a number, or a date (as in Ratings::time). InvalidInput for anything else.
double parse_time(const std::string& text);

/// Positions whose values are asked for.
struct IdPairs {
  std::vector<std::string> row, col;
};

/// Text as above, two ids a line, what follows them ignored. A first line without a number is a header where
/// the ids of the second line are both numbers.
IdPairs read_pairs(const std::filesystem::path& path, int threads = 0);

/// Text in the format of the extension: `row::col::value::0` for .dat, `row,col,value` under a header for
/// .csv; ids count from 1. The file appears whole or not at all. Throws InvalidArgument for another
/// extension, OutputFailure where it cannot be written.
void write_ratings(const std::filesystem::path& path, const ObservedEntries& entries, int threads = 0);

/// Throws InvalidArgument unless write_ratings() knows the extension; asked before long work.
void require_ratings_extension(const std::filesystem::path& path);

}  // namespace pursuit
