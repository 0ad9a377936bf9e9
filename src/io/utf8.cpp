#include "io/utf8.hpp"

#include <algorithm>
#include <cstddef>

namespace pursuit::io {

namespace {

constexpr char32_t kFirstOfLength[] = {0, 0, 0x80, 0x800,
                                       0x10000};  // a smaller code in so many bytes is overlong

std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

}  // namespace

bool is_code_point(char32_t code) {
  return code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
}

std::optional<std::u32string> decode_utf8(std::string_view text) {
  std::u32string codes;
  codes.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence_length(lead);
    if (length == 0 || length > text.size() - at) return std::nullopt;
    char32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      if ((next & 0xC0) != 0x80) return std::nullopt;
      code = (code << 6) | (next & 0x3Fu);
    }
    if (code < kFirstOfLength[length] || !is_code_point(code)) return std::nullopt;
    codes.push_back(code);
    at += length;
  }
  return codes;
}

bool is_utf8(std::string_view text) {
  const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  return std::all_of(text.begin(), text.end(), plain) || decode_utf8(text).has_value();
}

void append_utf8(std::string& text, char32_t code) {
  const auto continuation = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    continuation(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    continuation(6);
    continuation(0);
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

}  // namespace pursuit::io
