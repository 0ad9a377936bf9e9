#pragma once
// One file of ratings, whatever it is, or a part of it.

#include "io/byte_source.hpp"
#include "io/ratings_collector.hpp"
#include "io/ratings_text.hpp"

namespace pursuit::io {

enum class RatingsKind { matrix, packed_text, text };

/// InvalidInput for a matrix where the file is one of several.
RatingsKind kind_of_ratings(const ByteSource& source, bool one_of_several);

/// Appends what the file holds; of text that lies in place a share may be read. Returns how many lines of
/// text were read, a header aside.
std::size_t read_ratings_part(ByteSource source, const RatingsOptions& options, RatingsCollector& ratings,
                              const TextShare& share);

}  // namespace pursuit::io
