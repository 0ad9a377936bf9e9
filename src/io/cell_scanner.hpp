#pragma once
// Walks over the cells of text, keeping count of lines and columns: the one place that knows how lines are
// cut into cells, whatever is made of them.

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <forward_list>
#include <string>
#include <string_view>
#include <vector>

#include "io/number_text.hpp"

namespace pursuit::io {

enum class Separator { kColons, kTab, kSemicolon, kComma, kBlanks };  // colons: "::"; blanks: any run of them
inline constexpr std::array kSeparators = {Separator::kColons, Separator::kTab, Separator::kSemicolon,
                                           Separator::kComma, Separator::kBlanks};

/// How a message names it: "'::'", "blanks".
const char* shown(Separator separator);

struct Cell {
  std::string_view text;  // without quotes and surrounding blanks; valid as long as the text and the scanner
  bool quoted = false;
};

/// A record is a line, or several where quoted cells may span them.
class CellScanner {
 public:
  enum class Quotes { end_with_line, span_lines };

  /// `name` is the file's in messages; without one nothing is refused, and what is wrong with quotes is
  /// passed over. `lines_before` are the lines of the file before the text.
  CellScanner(std::string_view text, Separator separator, Quotes quotes, const std::string* name = nullptr,
              std::size_t lines_before = 0);

  /// Moves to the next record that is not blank; false at the end of the text.
  bool seek_record() {
    while (true) {
      record_ = at_;
      record_line_ = line_;
      skip_blanks();
      if (at_ == end_) return false;
      if (*at_ != '\n') [[likely]] {
        column_ = 0;
        has_cell_ = true;
        return true;
      }
      ++at_;
      ++line_;
    }
  }

  /// Whether the record has a further cell. A record that ends in a separator has an empty one.
  bool has_cell() const { return has_cell_; }
  char next_character() const { return *at_; }  // of a record just found

  // A cell that is returned through memory costs more than finding it.
  [[gnu::always_inline]] Cell next_cell() {
    skip_blanks();
    if (at_ != end_ && *at_ == '"') [[unlikely]]
      return quoted_cell();
    const char* first = at_;
    find_separator();
    const char* last = at_;
    while (last != first && is_blank(last[-1])) --last;
    pass_separator();
    return {{first, static_cast<std::size_t>(last - first)}, false};
  }

  /// Reads the next cell if it is a finite number; otherwise stays before it and returns false.
  bool next_number(double& value) {
    const char* first = at_;
    skip_blanks();
    const char* last = parse_number(at_, end_, value);
    if (last != nullptr && std::isfinite(value)) [[likely]] {
      at_ = last;
      if (finish_cell()) return true;
    }
    at_ = first;
    return false;
  }

  /// The same for a whole number that int can hold.
  bool next_whole(int& value) {
    const char* first = at_;
    skip_blanks();
    const char* last = find_stop(at_);
    const std::string_view word(at_, static_cast<std::size_t>(last - at_));
    std::uint32_t digits = 0;
    if (!word.empty() && word.size() <= 8 && parse_digits(packed_text(word), word.size(), digits)) [[likely]]
      value = static_cast<int>(digits);
    else if (const auto read = std::from_chars(at_, end_, value); read.ec == std::errc{})
      last = read.ptr;
    else
      last = nullptr;
    if (last != nullptr) [[likely]] {
      at_ = last;
      if (finish_cell()) return true;
    }
    at_ = first;
    return false;
  }

  /// Reads a whole record, seen or not, as nearly all are written: two numbers from 1 to `most_first` and
  /// `most_second` and a finite one, parted by one blank each. Stays before any other.
  bool next_plain_triplet(std::int64_t most_first, std::int64_t most_second, int& first, int& second,
                          double& value) {
    constexpr std::ptrdiff_t kLongest = 64;  // what two whole numbers and blanks take, and more
    const char* at = record_;
    if (end_ - at < kLongest || !next_plain_whole(at, most_first, first) ||
        !next_plain_whole(at, most_second, second))
      return false;
    const char* last = parse_number(at, end_, value);
    if (last == nullptr || last == end_ || *last != '\n' || !std::isfinite(value)) [[unlikely]]
      return false;
    at_ = last + 1;
    has_cell_ = false;
    ++line_;
    return true;
  }

  std::vector<Cell> remaining_cells() {
    std::vector<Cell> cells;
    while (has_cell_) cells.push_back(next_cell());
    return cells;
  }

  /// Passes over what is left of the line.
  void skip_line() {
    if (!has_cell_) return;
    has_cell_ = false;
    const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
    at_ = newline != nullptr ? static_cast<const char*>(newline) + 1 : end_;
    line_ += newline != nullptr ? 1 : 0;
  }

  /// Whether every quote so far closed where its cell ends; where there is a name, the first that does not is
  /// refused.
  bool quotes_are_sound() const { return quotes_are_sound_; }

  std::size_t line() const { return line_ + 1; }  // of the next cell, from 1
  std::size_t record_line() const { return record_line_ + 1; }
  std::size_t lines_passed() const { return line_; }
  std::size_t column() const { return column_; }  // cells of this record already read
  std::size_t position() const {
    return static_cast<std::size_t>(at_ - text_);
  }  // of the next cell in the text
  /// The first line of the record, without its end.
  std::string_view record_text() const;

 private:
  bool stops(char c) const {
    return c == '\n' || c == stop_ || (separator_ == Separator::kBlanks && (c == '\t' || c == '\r'));
  }
  bool is_blank(char c) const {
    return c <= ' ' && (c == ' ' || c == '\r' || (c == '\t' && separator_ != Separator::kTab));
  }
  bool at_line_end() const { return at_ == end_ || *at_ == '\n'; }
  bool at_separator() const {
    return separator_ == Separator::kColons ? *at_ == ':' && at_ + 1 != end_ && at_[1] == ':'
                                            : *at_ != '\n' && stops(*at_);
  }
  // Loops run over copies of the members, which the compiler could not keep in registers otherwise.
  void skip_blanks() {
    const char *at = at_, *end = end_;
    while (at != end && is_blank(*at)) ++at;
    at_ = at;
  }
  void find_separator() {
    while (true) {
      at_ = find_stop(at_);
      if (separator_ != Separator::kColons || at_line_end() || at_separator()) [[likely]]
        return;
      ++at_;
    }
  }

  /// The first character from here on that may end a cell.
  const char* find_stop(const char* at) const {
#if defined(__SSE2__)
    // Sixteen at a time: loops over the few characters of a cell are mispredicted at their end.
    while (end_ - at >= 16) {
      const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const auto equal = [&](char c) { return _mm_cmpeq_epi8(text, _mm_set1_epi8(c)); };
      __m128i stops = _mm_or_si128(equal('\n'), equal(stop_));
      if (separator_ == Separator::kBlanks)
        stops = _mm_or_si128(stops, _mm_or_si128(equal('\t'), equal('\r')));
      if (const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops)))
        return at + std::countr_zero(mask);
      at += 16;
    }
#endif
    while (at != end_ && !stops(*at)) ++at;
    return at;
  }

  /// Passes the separator or the end of the line that at_ stands at.
  void pass_separator() {
    if (separator_ == Separator::kBlanks) skip_blanks();
    ++column_;
    if (!at_line_end()) [[likely]] {
      at_ += separator_ == Separator::kBlanks ? 0 : separator_ == Separator::kColons ? 2 : 1;
      return;
    }
    has_cell_ = false;
    if (at_ != end_) {
      ++at_;
      ++line_;
    }
  }

  /// Passes blanks and what ends a cell; false where there is no such thing.
  bool finish_cell() {
    const char* behind = at_;
    skip_blanks();
    if (!at_line_end() && (separator_ == Separator::kBlanks ? at_ == behind : !at_separator())) return false;
    pass_separator();
    return true;
  }

  /// Digits and the blank behind them; there must be text for more than eleven characters.
  static bool next_plain_whole(const char*& at, std::int64_t most, int& value) {
    constexpr int kDigits = 9;  // that int can hold, whatever they are
    int number = 0, digits = 0;
    for (; digits <= kDigits; ++digits, ++at) {
      const auto digit = static_cast<unsigned>(*at - '0');
      if (digit > 9) break;
      number = digits < kDigits ? 10 * number + static_cast<int>(digit) : 0;
    }
    value = number;
    return *at++ == ' ' && number >= 1 && number <= most;
  }

  Cell quoted_cell();
  void refuse_quotes(std::size_t line, const std::string& why);

  const char *text_, *at_, *end_, *record_;
  Separator separator_;
  Quotes quotes_;
  bool quotes_are_sound_ = true;
  char stop_;  // what a separator starts with
  bool has_cell_ = false;
  std::size_t line_, record_line_, column_ = 0;  // lines before this one, cells before this one
  const std::string* name_;
  std::forward_list<std::string> unquoted_;  // text of cells with quotes inside
};

/// The first separator that gives `line` at least `needed` cells; where none does, the one that gives it
/// most.
Separator find_separator(std::string_view line, std::size_t needed);

/// Whether the quote at `quote`, outside of any cell that is quoted, opens one.
bool opens_cell(std::string_view text, std::size_t quote, Separator separator);
/// Just behind the quote that closes the one at `open`; npos where there is none.
std::size_t behind_closing_quote(std::string_view text, std::size_t open);

}  // namespace pursuit::io
