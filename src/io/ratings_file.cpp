#include "pursuit/io/ratings_file.hpp"

#include <new>
#include <stdexcept>
#include <string_view>

#include "io/byte_stream.hpp"
#include "io/defect.hpp"
#include "io/matrix_market.hpp"
#include "io/npy_header.hpp"
#include "io/ratings_arrays.hpp"
#include "io/ratings_collector.hpp"
#include "io/ratings_market.hpp"
#include "io/ratings_text.hpp"
#include "io/text_lines.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit {

namespace {

/// Runs a reader; one that runs out of memory has read a file that is too large for this machine.
template <class Reader>
auto read_within_memory(const std::filesystem::path& path, const Reader& read) {
  try {
    io::ByteStream stream(path);
    return read(stream);
  } catch (const std::bad_alloc&) {
    io::refuse(path.string(), "reading it needs more memory than there is");
  } catch (const std::length_error&) {
    io::refuse(path.string(), "reading it needs more memory than there is");
  }
}

}  // namespace

Ratings read_ratings(const std::filesystem::path& path, const RatingsOptions& options,
                     const IdTable* known_rows, const IdTable* known_cols) {
  return read_within_memory(path, [&](io::ByteStream& stream) {
    io::RatingsCollector ratings(stream.name(), options, known_rows, known_cols);
    if (io::is_npy(stream.head())) {
      io::read_dense_ratings(stream.read_all(), ratings);
    } else if (io::is_zip(stream.head())) {
      io::read_sparse_ratings(stream.read_all(), ratings);
    } else if (io::looks_like_matrix_market(stream.head())) {
      io::TextLines lines(stream);
      io::read_market_ratings(lines, ratings);
    } else {
      io::TextLines lines(stream);
      io::read_text_ratings(lines, ratings);
    }
    return ratings.finish();
  });
}

IdPairs read_pairs(const std::filesystem::path& path) {
  return read_within_memory(path, [](io::ByteStream& stream) {
    const std::string_view head = stream.head();
    if (io::is_npy(head) || io::is_zip(head) || io::looks_like_matrix_market(head))
      io::refuse(stream.name(), "this is a matrix; pairs are text with two ids a line, row and column");
    io::TextLines lines(stream);
    return io::read_text_pairs(lines);
  });
}

}  // namespace pursuit
