#pragma once
// The lines of a text: one after the other, or cut into pieces that are parsed at the same time. Of a mapped
// file only the part being read is in memory, of one that has to be unpacked only a block.

#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "io/byte_source.hpp"
#include "io/cell_scanner.hpp"
#include "io/defect.hpp"

namespace pursuit::io {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // which a text may begin with

/// What of a text lies before a place in it.
struct Place {
  std::size_t lines = 0, entries = 0;
};

class TextLines {
 public:
  /// Reads from where `source` is. Throws InvalidInput for what is no text in UTF-8.
  explicit TextLines(ByteSource& source);

  /// Moves to the next line, given without its end ("\n" or "\r\n") and valid until the next call; false at
  /// the end of the file.
  bool next(std::string_view& line);
  /// The same, passing over lines without anything but blanks.
  bool next_filled(std::string_view& line);

  std::size_t number() const { return number_; }  // of the line last read, from 1
  const std::string& name() const { return source_.name(); }
  std::string here() const { return at_line(name(), number_); }

  /// Makes the line last read the next one.
  void step_back() {
    at_ = line_start_;
    --number_;
  }

  /// Passes over so many bytes of rest(), which hold so many lines.
  void skip(std::size_t bytes, std::size_t lines) {
    at_ += bytes;
    number_ += lines;
  }

  /// Of all that is left, which must lie in place, only one of so many parts of about as many bytes. Lines
  /// before it are counted where there is a defect alone.
  void keep_part(int part, int parts);
  /// The same of the lines that begin at these bytes of the file, `from` to before `to`.
  void keep_bytes(std::size_t from, std::size_t to);

  /// Whether all that is left, which must lie in place and begin with a record, ends with one too: no quoted
  /// cell is still open.
  bool ends_with_a_record(Separator separator) const;

  /// All that is left, where it lies; none where it comes block by block.
  std::optional<std::string_view> rest() const {
    return streamed_ ? std::nullopt : std::optional(text_.substr(at_));
  }

  struct Parting {
    int threads = 0;
    std::optional<Separator> quoted =
        std::nullopt;  // cells may be quoted and span lines, which needs all of the text in place
    std::size_t most_entries = std::numeric_limits<std::size_t>::max();
    std::size_t entries_before = 0;  // in parts of the text that others read
  };

  /// Reads all that is left in pieces of whole records: parse(piece, before, part) fills a part, of which
  /// `part.extent` must say how many lines and entries it has; join(parts, expected) is given all parts of a
  /// block, in the order of the text and each with what lies `before` it, and the number of entries to be
  /// expected in all. What parse() throws is
  /// thrown for the first piece that has a defect, with the place it has in the whole text; and parse() is
  /// called with that place where there are more than `most_entries`, and must throw.
  template <class Part, class Parse, class Join>
  void in_parts(const Parting& parting, const Parse& parse, const Join& join) {
    Place before{number_, parting.entries_before};
    const std::size_t begin = at_;
    const int threads = resolve_threads(parting.threads);
    while (take_pieces(parting.quoted, threads)) {
      std::vector<Part> parts(pieces_.size());
      std::vector<char> failed(pieces_.size(), 0);
      parallel_for(Index(pieces_.size()), threads, [&](Index k) {
        const auto at = static_cast<std::size_t>(k);
        try {
          require_text(pieces_[at]);
          parse(pieces_[at], Place{}, parts[at]);
        } catch (const InvalidInput&) {
          failed[at] = 1;
        }
      });
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const Place& extent = parts[k].extent;
        if (failed[k] != 0 || before.entries + extent.entries > parting.most_entries) [[unlikely]] {
          require_text(pieces_[k]);
          parts[k] = Part{};
          before.lines += lines_left_out();
          parse(pieces_[k], before, parts[k]);
        }
        parts[k].before = before;
        before.lines += extent.lines;
        before.entries += extent.entries;
      }
      join(parts, expected(before.entries - parting.entries_before, begin));
      parallel_for(Index(parts.size()), threads, [&](Index k) {  // much to be freed
        parts[static_cast<std::size_t>(k)] = Part{};
        forget(pieces_[static_cast<std::size_t>(k)]);
      });
      number_ = before.lines;
      pass_pieces();
    }
  }

 private:
  void take(std::string_view& line, std::size_t end);
  bool refill(std::size_t size);
  std::size_t lines_left_out() const;
  bool take_pieces(const std::optional<Separator>& quoted, int threads);
  void forget(std::string_view piece) const;
  void pass_pieces();
  void require_text(std::string_view bytes) const {
    require_no_zero_byte(bytes, name(), passed_ + static_cast<std::size_t>(bytes.data() - text_.data()));
  }
  std::size_t expected(std::size_t entries, std::size_t begin) const;

  ByteSource& source_;
  bool streamed_;
  std::string buffer_;     // of what is streamed
  std::string_view text_;  // all of the text, or what is buffered of it
  std::size_t at_ = 0;     // where the next line starts in it
  std::size_t line_start_ = 0;
  std::size_t passed_ = 0;  // bytes of the file before it
  std::size_t number_ = 0;
  std::string_view left_out_;  // not counted by number_
  std::vector<std::string_view> pieces_;
};

}  // namespace pursuit::io
