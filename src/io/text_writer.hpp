#pragma once
// Text formatted by several threads and written in order, cut at places fixed by its size.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "io/byte_source.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

using Sink = std::function<void(std::string_view)>;

class TextWriter {
 public:
  /// Packed: every piece is a member of a gzip file.
  explicit TextWriter(Sink sink, int threads = 1, bool packed = false)
      : sink_(std::move(sink)), threads_(resolve_threads(threads)), packed_(packed) {}

  void write(std::string_view text) { sink_(packed_ ? gzip(text) : text); }

  /// Writes what append(text, k) appends for every k from 0 to below `count`, of about so many cells each.
  template <class Append>
  void write_lines(Index count, Index cells, const Append& append) {
    const Index in_piece = packed_ ? 1 << 16 : 1 << 13;  // cells; members of a gzip file must not be small
    const Index lines = std::max<Index>(1, in_piece / std::max<Index>(1, cells)), at_once = 4 * threads_;
    for (Index first = 0; first < count; first += at_once * lines) {
      const Index pieces = std::min(at_once, (count - first + lines - 1) / lines);
      std::vector<std::string> texts(static_cast<std::size_t>(pieces));
      parallel_for(pieces, threads_, [&](Index p) {
        std::string& text = texts[static_cast<std::size_t>(p)];
        const Index start = first + p * lines, end = std::min(count, start + lines);
        for (Index k = start; k < end; ++k) append(text, k);
        if (packed_) text = gzip(text);
      });
      for (const std::string& text : texts) sink_(text);
    }
  }

 private:
  Sink sink_;
  int threads_;
  bool packed_;
};

}  // namespace pursuit::io
