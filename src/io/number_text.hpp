#pragma once
// Numbers to and from text: independent of the locale, and written as the shortest text that reads back
// equal.

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace pursuit::io {

/// The value of well-formed number text beyond double's range: a signed infinity or a signed zero.
double saturated_number(std::string_view text);

/// Reads the number that starts at `first`; returns where it ends, or nullptr where no number starts. Unlike
/// std::from_chars it takes a leading '+', rounds what is too small to zero and makes what is too large
/// infinite. "inf" and "nan" are read as such: the caller decides whether they are welcome.
inline const char* parse_number(const char* first, const char* last, double& value) {
  const char* digits = first;
  if (first != last && *first == '+') {
    ++digits;
    if (digits != last && *digits == '-') return nullptr;
  }
  const auto [end, error] = std::from_chars(digits, last, value);
  if (error == std::errc{}) [[likely]]
    return end;
  if (error == std::errc::result_out_of_range) {
    value = saturated_number(std::string_view(digits, end));
    return end;
  }
  return nullptr;
}

/// Whether the whole of `text` is one number.
inline bool parse_whole_number(std::string_view text, double& value) {
  const char* last = text.data() + text.size();
  return !text.empty() && parse_number(text.data(), last, value) == last;
}

/// Appends the shortest text that reads back as the same number of the same precision.
template <class Number>
void append_number(std::string& text, Number value) {
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  text.append(digits, result.ptr);
}

}  // namespace pursuit::io
