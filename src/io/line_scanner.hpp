#pragma once
// Walks over the lines of MatrixMarket text, and over the words of each, keeping count of the lines.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "io/defect.hpp"
#include "io/number_text.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

class LineScanner {
 public:
  LineScanner(std::string_view text, const std::string& name)
      : at_(text.data()), end_(text.data() + text.size()), name_(&name) {}

  std::string here() const { return at_line(*name_, line_); }
  std::size_t line() const { return line_; }
  std::size_t bytes_left() const { return static_cast<std::size_t>(end_ - at_); }

  /// Moves to the first word of the next line that holds any, comments aside; false at the end of the text.
  bool seek_data_line() {
    while (!at_end()) {
      skip_blanks();
      if (at_end()) break;
      if (*at_ != '\n' && *at_ != '%') return true;
      finish_any_line();
    }
    return false;
  }

  /// The next word of this line; empty at its end.
  std::string_view next_word() {
    skip_blanks();
    const char* first = at_;
    while (!at_end() && *at_ != '\n' && !is_blank(*at_)) ++at_;
    return {first, static_cast<std::size_t>(at_ - first)};
  }

  /// Reads a whole number of 1 to `most`; `what` is what to call it.
  int next_index(int most, const char* what) {
    skip_blanks();
    const char* first = at_;
    int index = 0;
    const auto [last, error] = std::from_chars(at_, end_, index);
    at_ = last;
    if (error != std::errc{} || !at_word_end() || index < 1 || index > most) [[unlikely]] {
      at_ = first;
      refuse(here(), fmt::format("{} {} is not a whole number from 1 to {}", what, shown(next_word()), most));
    }
    return index;
  }

  /// Reads a finite number; the position (from 1) is for the message.
  double next_value(Index row, Index column) {
    skip_blanks();
    const char* first = at_;
    double value = 0;
    const char* last = parse_number(at_, end_, value);
    at_ = last != nullptr ? last : first;
    if (last == nullptr || !at_word_end() || !std::isfinite(value)) [[unlikely]] {
      at_ = first;
      const std::string_view word = next_word();
      const std::string position = fmt::format("at row {}, column {}", row, column);
      if (word.empty()) refuse(here(), fmt::format("the value {} is missing", position));
      refuse(here(), fmt::format("value {} {} is not a finite number", shown(word), position));
    }
    return value;
  }

  /// Moves to the next line; there must be no further word on this one.
  void finish_line() {
    skip_blanks();
    if (at_end()) return;
    if (*at_ != '\n') [[unlikely]]
      refuse(here(), fmt::format("unexpected {} after the end of the entry", shown(next_word())));
    ++at_;
    ++line_;
  }

  void finish_any_line() {
    const void* newline = std::memchr(at_, '\n', bytes_left());
    at_ = newline != nullptr ? static_cast<const char*>(newline) + 1 : end_;
    ++line_;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  bool at_end() const { return at_ == end_; }
  bool at_word_end() const { return at_end() || *at_ == '\n' || is_blank(*at_); }
  void skip_blanks() {
    while (!at_end() && is_blank(*at_)) ++at_;
  }

  const char* at_;
  const char* end_;
  std::size_t line_ = 1;
  const std::string* name_;
};

}  // namespace pursuit::io
