#include "io/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/byte_source.hpp"

namespace pursuit::io {

TextLines::TextLines(ByteStream& stream) : stream_(stream) {
  refill();
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF")) {
    refuse(name(), "this is UTF-16 text; save the file as UTF-8");
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

bool TextLines::next_across_blocks(std::string_view& line) {
  std::size_t newline = std::string::npos;
  while (newline == std::string::npos) {
    const std::size_t searched = text_.size() - at_;
    if (searched > ByteStream::kBlock) {
      refuse(at_line(name(), number_ + 1),
             fmt::format("the line is longer than {}: this is no file of ratings",
                         human_size(ByteStream::kBlock)));
    }
    if (!refill()) {  // the last line may lack its end
      if (at_ >= text_.size()) return false;
      newline = text_.size();
    } else {
      newline = text_.find('\n', at_ + searched);
    }
  }
  take(line, newline);
  at_ = std::min(at_, text_.size());
  return true;
}

/// Drops the lines already read and appends the next block; false at the end of the file.
bool TextLines::refill() {
  text_.erase(0, at_);
  passed_ += at_;
  at_ = 0;
  const std::size_t before = text_.size();
  if (!stream_.read(text_)) return false;
  if (const std::size_t zero = text_.find('\0', before); zero != std::string::npos) {
    refuse(name(), fmt::format("byte {} is zero: this is neither text nor a MatrixMarket, .npy or .npz file",
                               passed_ + zero));
  }
  return true;
}

}  // namespace pursuit::io
