#include "pursuit/io/ratings_file.hpp"

#include <string_view>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/matrix_market.hpp"
#include "io/npy_header.hpp"
#include "io/ratings_arrays.hpp"
#include "io/ratings_collector.hpp"
#include "io/ratings_over_ranks.hpp"
#include "io/ratings_text.hpp"
#include "io/text_lines.hpp"
#include "io/zip_bytes.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit {

namespace {

bool is_matrix(std::string_view head) {
  return io::is_npy(head) || io::is_zip(head) || io::looks_like_matrix_market(head);
}

void read_matrix(io::ByteSource source, const RatingsOptions& options, io::RatingsCollector& ratings) {
  if (!options.columns.empty())
    io::refuse(source.name(), "this is a matrix; columns can be chosen of text only");
  if (options.times)
    io::refuse(source.name(),
               "times are needed, and this is a matrix, which has none; text with a column of "
               "times has");
  if (io::is_npy(source.head())) {
    io::read_dense_ratings(source.take_all(), ratings);
  } else if (io::is_zip(source.head())) {
    io::read_sparse_ratings(source.take_all(), ratings);
  } else {
    io::TextLines lines(source);
    io::read_market_ratings(lines, options.threads, ratings);
  }
}

void read_text(io::ByteSource source, const RatingsOptions& options, io::RatingsCollector& ratings) {
  if (options.team && options.team->ranks().size() > 1 && source.in_place())
    return io::read_text_over_ranks(*options.team, source.name(), options, ratings);
  io::TextLines lines(source);
  io::read_text_ratings(lines, options, ratings);
}

}  // namespace

Ratings read_ratings(const std::filesystem::path& path, const RatingsOptions& options,
                     const IdTable* known_rows, const IdTable* known_cols) {
  const std::vector<std::filesystem::path> parts = parts_of(path);
  return io::within_memory(path, [&] {
    io::RatingsCollector ratings(parts.size() == 1 ? parts.front().string() : path.string(), options,
                                 known_rows, known_cols);
    for (const std::filesystem::path& part : parts) {
      io::ByteSource source(part);
      if (parts.size() > 1) {
        if (is_matrix(source.head()))
          io::refuse(source.name(), "this is a matrix; several files are parts of one text");
        ratings.begin_file(source.name());
      }
      if (is_matrix(source.head())) {
        read_matrix(std::move(source), options, ratings);
        continue;
      }
      read_text(std::move(source), options, ratings);
      if (ratings.size() == 0 && parts.size() == 1)
        io::refuse(ratings.name(), "the file has a header line, but no line with an entry");
    }
    return ratings.finish();
  });
}

double parse_time(const std::string& text) {
  return io::parse_time_text(text);
}

IdPairs read_pairs(const std::filesystem::path& path, int threads) {
  return io::within_memory(path, [&] {
    io::ByteSource source(path);
    const std::string_view head = source.head();
    if (io::is_npy(head) || io::is_zip(head) || io::looks_like_matrix_market(head))
      io::refuse(source.name(), "this is a matrix; pairs are text with two ids a line, row and column");
    io::TextLines lines(source);
    return io::read_text_pairs(lines, threads);
  });
}

}  // namespace pursuit
