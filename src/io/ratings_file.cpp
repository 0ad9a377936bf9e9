#include "pursuit/io/ratings_file.hpp"

#include <algorithm>
#include <string_view>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/matrix_market.hpp"
#include "io/npy_header.hpp"
#include "io/ratings_arrays.hpp"
#include "io/ratings_collector.hpp"
#include "io/ratings_over_ranks.hpp"
#include "io/ratings_text.hpp"
#include "io/read_ratings_part.hpp"
#include "io/text_lines.hpp"
#include "io/zip_bytes.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit {

namespace io {
namespace {

bool is_matrix(std::string_view head) {
  return is_npy(head) || is_zip(head) || looks_like_matrix_market(head);
}

void read_matrix(ByteSource source, const RatingsOptions& options, RatingsCollector& ratings) {
  if (!options.columns.empty()) refuse(source.name(), "this is a matrix; columns can be chosen of text only");
  if (options.times)
    refuse(source.name(),
           "times are needed, and this is a matrix, which has none; text with a column of "
           "times has");
  if (is_npy(source.head())) {
    read_dense_ratings(source.take_all(), ratings);
  } else if (is_zip(source.head())) {
    read_sparse_ratings(source.take_all(), ratings);
  } else {
    TextLines lines(source);
    read_market_ratings(lines, options.threads, ratings);
  }
}

bool has_team(const RatingsOptions& options) {
  return options.team && options.team->ranks().size() > 1;
}

/// What comes through a pipe comes once, and to rank 0.
bool is_read_by_all(const std::vector<std::filesystem::path>& parts, const RatingsOptions& options) {
  return has_team(options) && std::none_of(parts.begin(), parts.end(), [](const auto& part) {
           std::error_code none;
           return std::filesystem::is_other(part, none);
         });
}

}  // namespace

RatingsKind kind_of_ratings(const ByteSource& source, bool one_of_several) {
  if (!is_matrix(source.head())) return source.in_place() ? RatingsKind::text : RatingsKind::packed_text;
  if (one_of_several) refuse(source.name(), "this is a matrix; several files are parts of one text");
  return RatingsKind::matrix;
}

std::size_t read_ratings_part(ByteSource source, const RatingsOptions& options, RatingsCollector& ratings,
                              const TextShare& share) {
  if (is_matrix(source.head())) {
    read_matrix(std::move(source), options, ratings);
    return 0;
  }
  TextLines lines(source);
  return read_text_ratings(lines, options, ratings, share);
}

}  // namespace io

namespace {

std::string name_of(const std::filesystem::path& path, const std::vector<std::filesystem::path>& parts) {
  return parts.size() == 1 ? parts.front().string() : path.string();
}

}  // namespace

Ratings read_ratings(const std::filesystem::path& path, const RatingsOptions& options,
                     const IdTable* known_rows, const IdTable* known_cols) {
  const std::vector<std::filesystem::path> parts = parts_of(path);
  return io::within_memory(path, [&] {
    io::RatingsCollector ratings(name_of(path, parts), options, known_rows, known_cols);
    if (io::is_read_by_all(parts, options)) {
      io::read_over_ranks(*options.team, parts, options, ratings);
      return ratings.finish();
    }
    for (const std::filesystem::path& part : parts) {
      io::ByteSource source(part);
      const io::RatingsKind kind = io::kind_of_ratings(source, parts.size() > 1);
      if (parts.size() > 1) ratings.begin_file(source.name());
      io::read_ratings_part(std::move(source), options, ratings, {});
      if (kind != io::RatingsKind::matrix && ratings.size() == 0 && parts.size() == 1)
        io::refuse(ratings.name(), "the file has a header line, but no line with an entry");
    }
    return ratings.finish();
  });
}

RankedRatings read_ratings_apart(const std::filesystem::path& path, const RatingsOptions& options) {
  if (!io::has_team(options) || options.duplicates != RatingsOptions::Duplicates::refuse || options.times)
    throw InvalidArgument(
        "ratings that stay with ranks: of a team of several, without times, no entry coming twice");
  const std::vector<std::filesystem::path> parts = parts_of(path);
  if (!io::is_read_by_all(parts, options)) {  // then the others have none of them
    Ratings all = read_ratings(path, options);
    RankedEntries entries;
    entries.number = options.team->fresh_number();
    entries.all = all.entries.size();
    entries.own = std::move(all.entries);
    return {std::move(entries), std::move(all.rows), std::move(all.cols), all.counts};
  }
  return io::within_memory(path, [&] {
    io::RatingsCollector collector(name_of(path, parts), options, nullptr, nullptr);
    RankedRatings ratings{io::read_apart(*options.team, parts, options, collector), {}, {}, false};
    Ratings own = collector.release().ratings;
    ratings.rows = std::move(own.rows);
    ratings.cols = std::move(own.cols);
    ratings.counts = own.counts;
    ratings.entries.own = std::move(own.entries);
    ratings.entries.own.rows = ratings.rows.size();
    ratings.entries.own.cols = ratings.cols.size();
    return ratings;
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
