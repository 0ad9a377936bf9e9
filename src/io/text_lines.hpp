#pragma once
// The lines of a text file, one after the other, with only a block of it in memory.

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "io/byte_stream.hpp"
#include "io/defect.hpp"

namespace pursuit::io {

class TextLines {
 public:
  /// Reads from where `stream` is. Throws InvalidInput for what is no text in UTF-8.
  explicit TextLines(ByteStream& stream);

  /// Moves to the next line, given without its end ("\n" or "\r\n") and valid until the next call; false at
  /// the end of the file.
  bool next(std::string_view& line) {
    const void* newline = std::memchr(text_.data() + at_, '\n', text_.size() - at_);
    if (newline == nullptr) [[unlikely]]
      return next_across_blocks(line);
    take(line, static_cast<std::size_t>(static_cast<const char*>(newline) - text_.data()));
    return true;
  }

  /// The same, passing over lines without anything but blanks.
  bool next_filled(std::string_view& line) {
    while (next(line)) {
      if (!is_blank(line)) return true;
    }
    return false;
  }

  std::size_t number() const { return number_; }  // of the line last read, from 1
  const std::string& name() const { return stream_.name(); }
  std::string here() const { return at_line(name(), number_); }

 private:
  static bool is_blank(std::string_view line) {
    return line.empty() || line.find_first_not_of(" \t") == std::string_view::npos;
  }

  void take(std::string_view& line, std::size_t end) {
    line = std::string_view(text_).substr(at_, end - at_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at_ = end + 1;
    ++number_;
  }

  bool next_across_blocks(std::string_view& line);
  bool refill();

  ByteStream& stream_;
  std::string text_;
  std::size_t at_ = 0;      // where the next line starts in it
  std::size_t passed_ = 0;  // bytes of the file before it
  std::size_t number_ = 0;
};

}  // namespace pursuit::io
