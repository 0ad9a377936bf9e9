#include "pursuit/io/ratings_file.hpp"

#include <string_view>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/matrix_market.hpp"
#include "io/npy_header.hpp"
#include "io/ratings_arrays.hpp"
#include "io/ratings_collector.hpp"
#include "io/ratings_text.hpp"
#include "io/text_lines.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit {

Ratings read_ratings(const std::filesystem::path& path, const RatingsOptions& options,
                     const IdTable* known_rows, const IdTable* known_cols) {
  return io::within_memory(path, [&] {
    io::ByteSource source(path);
    io::RatingsCollector ratings(source.name(), options, known_rows, known_cols);
    const bool is_matrix =
        io::is_npy(source.head()) || io::is_zip(source.head()) || io::looks_like_matrix_market(source.head());
    if (is_matrix && !options.columns.empty())
      io::refuse(source.name(), "this is a matrix; columns can be chosen of text only");
    if (is_matrix && options.times)
      io::refuse(source.name(),
                 "times are needed, and this is a matrix, which has none; text with a column of "
                 "times has");
    if (io::is_npy(source.head())) {
      io::read_dense_ratings(source.take_all(), ratings);
    } else if (io::is_zip(source.head())) {
      io::read_sparse_ratings(source.take_all(), ratings);
    } else if (io::looks_like_matrix_market(source.head())) {
      io::TextLines lines(source);
      io::read_market_ratings(lines, options.threads, ratings);
    } else {
      io::TextLines lines(source);
      io::read_text_ratings(lines, options, ratings);
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
