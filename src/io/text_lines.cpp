#include "io/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/machine.hpp"

namespace pursuit::io {

namespace {

// Nothing that is read depends on where it is cut. Pieces are large beside what joining them costs, blocks
// hold enough of them for all threads.
constexpr std::size_t kSmallestPiece = std::size_t{1} << 17, kLargestPiece = std::size_t{1} << 20,
                      kPiecesOfEachThread = 6;
constexpr std::size_t kStep = std::size_t{1} << 18;  // how far to look for the end of a line at a time

std::size_t behind_newline(std::string_view text, std::size_t from) {
  const std::size_t newline = text.find('\n', from);
  return newline == std::string_view::npos ? newline : newline + 1;
}

/// Whether no quoted cell is open at the end of a text that begins with a record.
bool ends_outside_of_quotes(std::string_view text, Separator separator) {
  for (std::size_t from = 0;;) {
    const std::size_t quote = text.find('"', from);
    if (quote == std::string_view::npos) return true;
    from = opens_cell(text, quote, separator) ? behind_closing_quote(text, quote) : quote + 1;
    if (from == std::string_view::npos) return false;
  }
}

/// Behind the first end of a line that is `piece` or more behind the last cut, at most so many times.
std::vector<std::size_t> line_cuts(std::string_view text, std::size_t piece, std::size_t most) {
  std::vector<std::size_t> cuts;
  for (std::size_t target = piece; target < text.size() && cuts.size() < most; target = cuts.back() + piece) {
    const std::size_t cut = behind_newline(text, target - 1);
    if (cut == std::string_view::npos) break;
    cuts.push_back(cut);
  }
  return cuts;
}

/// The same at ends of records, one after the other.
std::vector<std::size_t> record_cuts(std::string_view text, std::size_t piece, std::size_t most,
                                     Separator separator) {
  std::vector<std::size_t> cuts;
  std::size_t target = piece;
  const auto cut_before = [&](std::size_t from, std::size_t limit) {  // no quoted cell lies in between
    while (target < limit && cuts.size() < most) {
      const std::size_t cut = behind_newline(text.substr(0, limit), std::max(from, target - 1));
      if (cut == std::string_view::npos) return;
      cuts.push_back(cut);
      target = cut + piece;
    }
  };
  std::size_t from = 0;
  while (cuts.size() < most) {
    const std::size_t quote = text.find('"', from);
    if (quote == std::string_view::npos) break;
    cut_before(from, quote);
    if (!opens_cell(text, quote, separator)) {
      from = quote + 1;
      continue;
    }
    from = behind_closing_quote(text, quote);
    if (from == std::string_view::npos) return cuts;
  }
  cut_before(from, text.size());
  return cuts;
}

/// Where to cut a text into at most so many pieces of whole records of `piece` or more. What lies behind the
/// last cut need not be whole records. Ends of lines are those of records, as all threads can see, unless a
/// quoted cell spans just such a one.
std::vector<std::size_t> cuts_of(std::string_view text, std::size_t piece, std::size_t most,
                                 const std::optional<Separator>& quoted, int threads) {
  std::vector<std::size_t> cuts = line_cuts(text, piece, most);
  if (!quoted) return cuts;
  std::vector<char> whole(cuts.size());
  parallel_for(Index(cuts.size()), threads, [&](Index k) {
    const auto at = static_cast<std::size_t>(k);
    const std::size_t from = at == 0 ? 0 : cuts[at - 1];
    whole[at] = ends_outside_of_quotes(text.substr(from, cuts[at] - from), *quoted) ? 1 : 0;
  });
  const bool all_whole = std::find(whole.begin(), whole.end(), 0) == whole.end();
  return all_whole ? cuts : record_cuts(text, piece, most, *quoted);
}

}  // namespace

TextLines::TextLines(ByteSource& source) : source_(source), streamed_(!source.in_place()) {
  if (streamed_)
    refill(kStep);
  else
    text_ = *source.in_place();
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    refuse(name(), "this is UTF-16 text; save the file as UTF-8");
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

bool TextLines::next(std::string_view& line) {
  for (std::size_t searched = 0;; searched += kStep) {
    while (text_.size() - at_ <= searched)
      if (!refill(kStep)) {
        if (at_ >= text_.size()) return false;
        take(line, text_.size());  // the last line may lack its end
        return true;
      }
    const std::string_view step = text_.substr(at_ + searched, kStep);
    if (const std::size_t newline = step.find('\n'); newline != std::string_view::npos) {
      take(line, at_ + searched + newline);
      return true;
    }
    require_text(step);  // what is no text may have no end
  }
}

bool TextLines::next_filled(std::string_view& line) {
  while (next(line))
    if (line.find_first_not_of(" \t") != std::string_view::npos) return true;
  return false;
}

void TextLines::take(std::string_view& line, std::size_t end) {
  line = text_.substr(at_, end - at_);
  require_text(line);
  if (line.ends_with('\r')) line.remove_suffix(1);
  line_start_ = at_;
  at_ = std::min(end + 1, text_.size());
  ++number_;
}

void TextLines::keep_part(int part, int parts) {
  const std::size_t begin = at_, size = text_.size() - at_;
  const auto cut = [&](int number) {
    return begin + size * static_cast<std::size_t>(number) / static_cast<std::size_t>(parts);
  };
  keep_bytes(cut(part), cut(part + 1));
}

void TextLines::keep_bytes(std::size_t from, std::size_t to) {
  const std::size_t begin = at_;
  const auto line_from = [&](std::size_t byte) {
    if (byte <= begin) return begin;
    return byte >= text_.size() ? text_.size() : std::min(behind_newline(text_, byte - 1), text_.size());
  };
  at_ = line_start_ = line_from(from);
  left_out_ = text_.substr(begin, at_ - begin);
  text_ = text_.substr(0, line_from(to));
}

bool TextLines::ends_with_a_record(Separator separator) const {
  return ends_outside_of_quotes(text_.substr(at_), separator);
}

std::size_t TextLines::lines_left_out() const {
  return static_cast<std::size_t>(std::count(left_out_.begin(), left_out_.end(), '\n'));
}

/// Drops the lines already read and appends what comes next; false at the end of the file.
bool TextLines::refill(std::size_t size) {
  if (!streamed_) return false;
  buffer_.erase(0, line_start_);  // the line last read may be wanted again
  passed_ += line_start_;
  at_ -= line_start_;
  line_start_ = 0;
  const bool more = source_.read(buffer_, size);
  text_ = buffer_;
  return more;
}

bool TextLines::take_pieces(const std::optional<Separator>& quoted, int threads) {
  pieces_.clear();
  const std::size_t most = threads == 1 ? 1 : kPiecesOfEachThread * static_cast<std::size_t>(threads);
  const std::size_t share = streamed_ ? kLargestPiece : (text_.size() - at_) / most;
  const std::size_t piece = threads == 1 ? kLargestPiece : std::clamp(share, kSmallestPiece, kLargestPiece);
  line_start_ = at_;
  for (std::size_t size = (most + 1) * piece;; size *= 2) {
    bool last = !streamed_ && text_.size() - at_ <= size;
    while (streamed_ && !last && text_.size() - at_ < size) last = !refill(size - (text_.size() - at_));
    if (at_ == text_.size()) return false;
    const std::string_view window = text_.substr(at_, size);
    std::vector<std::size_t> cuts = cuts_of(window, piece, most, quoted, threads);
    if (cuts.empty() && !last) {
      if (2 * size > available_memory())
        refuse(at_line(name(), number_ + 1), fmt::format("the line is longer than {}", human_size(size)));
      continue;
    }
    if (last && cuts.size() < most && (cuts.empty() || cuts.back() < window.size()))
      cuts.push_back(window.size());
    std::size_t from = 0;
    for (const std::size_t cut : cuts) {
      pieces_.push_back(window.substr(from, cut - from));
      from = cut;
    }
    return true;
  }
}

void TextLines::pass_pieces() {
  at_ = static_cast<std::size_t>(pieces_.back().data() + pieces_.back().size() - text_.data());
  line_start_ = at_;
}

void TextLines::forget(std::string_view piece) const {
  if (streamed_) return;
  const auto from = static_cast<std::size_t>(piece.data() - text_.data());
  source_.forget(from, from + piece.size());
}

/// Of these entries the first stands behind `begin`.
std::size_t TextLines::expected(std::size_t entries, std::size_t begin) const {
  if (streamed_ || entries == 0) return entries;
  const auto end = static_cast<std::size_t>(pieces_.back().data() + pieces_.back().size() - text_.data());
  return entries +
         static_cast<std::size_t>(1.02 * double(entries) * double(text_.size() - end) / double(end - begin));
}

}  // namespace pursuit::io
