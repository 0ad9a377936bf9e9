#pragma once
// Numbers to and from text: independent of the locale, and written as the shortest text that reads back
// equal.

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace pursuit::io {

/// The value of well-formed number text beyond double's range: a signed infinity or a signed zero.
double saturated_number(std::string_view text);

/// Up to 8 bytes of text as one number, the first in the lowest byte, without looking beyond them.
inline std::uint64_t packed_text(std::string_view text) {
  const std::size_t size = text.size();
  const char* bytes = text.data();
  if (size >= 4) {  // two words that may overlap
    std::uint32_t head = 0, tail = 0;
    std::memcpy(&head, bytes, sizeof head);
    std::memcpy(&tail, bytes + size - sizeof tail, sizeof tail);
    return std::uint64_t{head} | std::uint64_t{tail} << (8 * (size - 4));
  }
  if (size == 0) return 0;
  const auto byte = [&](std::size_t k) {
    return std::uint64_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
  };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

/// The number that 1 to 8 digits are, all at once; false where one of the characters is none.
inline bool parse_digits(std::uint64_t packed, std::size_t size, std::uint32_t& value) {
  constexpr std::uint64_t kZeros = 0x3030303030303030;
  static_assert(std::endian::native == std::endian::little);
  const auto unused = static_cast<unsigned>(64 - 8 * size);
  std::uint64_t digits = unused == 0 ? packed : packed << unused | kZeros >> (64 - unused);
  if (((digits + 0x4646464646464646) | (digits - kZeros)) & 0x8080808080808080) return false;
  digits -= kZeros;
  digits = digits * 10 + (digits >> 8);  // pairs, then fours, then all eight
  constexpr std::uint64_t kMask = 0x000000FF000000FF;
  value = static_cast<std::uint32_t>((((digits & kMask) * (100 + (std::uint64_t{1000000} << 32))) +
                                      (((digits >> 16) & kMask) * (1 + (std::uint64_t{10000} << 32)))) >>
                                     32);
  return true;
}

inline constexpr double kPowersOfTen[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// Reads a decimal of few digits, whose value one exact division gives as rounded as any parser; returns
/// where it ends, or nullptr where the number is another one or none.
inline const char* parse_short_decimal(const char* at, const char* last, double& value) {
  constexpr std::ptrdiff_t kMostDigits = 15;  // that a double can hold, whatever they are
  const bool negative = at != last && *at == '-';
  if (negative) ++at;
  std::uint64_t digits = 0;
  const char* first = at;
  const auto take_digits = [&] {
    const char* start = at;
    for (; at != last && at - first <= kMostDigits + 1; ++at) {
      const auto digit = static_cast<unsigned>(*at - '0');
      if (digit > 9) break;
      digits = 10 * digits + digit;
    }
    return at - start;
  };
  const std::ptrdiff_t whole = take_digits();
  std::ptrdiff_t decimals = 0;
  if (at != last && *at == '.') {
    ++at;
    decimals = take_digits();
  }
  const std::ptrdiff_t count = whole + decimals;
  if (count == 0 || count > kMostDigits || (at != last && (*at == 'e' || *at == 'E'))) return nullptr;
  value = static_cast<double>(digits) / kPowersOfTen[decimals];
  if (negative) value = -value;
  return at;
}

/// Reads the number that starts at `first`; returns where it ends, or nullptr where no number starts. Unlike
/// std::from_chars it takes a leading '+', rounds what is too small to zero and makes what is too large
/// infinite. "inf" and "nan" are read as such: the caller decides whether they are welcome.
inline const char* parse_number(const char* first, const char* last, double& value) {
  if (const char* end = parse_short_decimal(first, last, value)) [[likely]]
    return end;
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
