#include "report/text.hpp"

#include <algorithm>

namespace pursuit::report {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Length in bytes of the well-formed UTF-8 character that starts at `i`, or 0 where there is none.
std::size_t character_at(std::string_view text, std::size_t i) {
  const unsigned lead = byte_at(text, i);
  const std::size_t bytes = lead < 0x80U   ? 1
                            : lead < 0xC2U ? 0
                            : lead < 0xE0U ? 2
                            : lead < 0xF0U ? 3
                            : lead < 0xF5U ? 4
                                           : 0;
  if (bytes == 0 || i + bytes > text.size()) return 0;
  unsigned code = bytes == 1 ? lead : lead & (0x7FU >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if (!continues_character(text[i + k])) return 0;
    code = (code << 6U) | (byte_at(text, i + k) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800U) || (bytes == 4 && code < 0x10000U);
  const bool surrogate = code >= 0xD800U && code <= 0xDFFFU;
  const bool not_a_character = code == 0xFFFEU || code == 0xFFFFU || code > 0x10FFFFU;
  return overlong || surrogate || not_a_character ? 0 : bytes;
}

bool is_control(std::string_view character) {
  const unsigned lead = byte_at(character, 0);
  return lead < 0x20U || lead == 0x7FU || (lead == 0xC2U && byte_at(character, 1) < 0xA0U);  // U+0080..U+009F
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = character_at(text, i);
    if (bytes == 0) {
      out += '?';
      ++i;
      continue;
    }
    const std::string_view character = text.substr(i, bytes);
    out += is_control(character) ? " " : character;
    i += bytes;
  }
  return out;
}

std::size_t length(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_character));
}

std::string clipped(std::string_view text, std::size_t columns) {
  if (length(text) <= columns) return std::string(text);
  const std::string_view mark = columns > 3 ? "..." : "";
  const std::size_t kept = columns - mark.size();
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!continues_character(text[end]) && seen++ == kept) break;
  }
  return std::string(text.substr(0, end)).append(mark);
}

std::string clipped_inside(std::string_view text, std::size_t columns) {
  const std::string_view mark = "...";
  const std::size_t all = length(text);
  if (all <= columns || columns <= mark.size() + 1) return clipped(text, columns);
  const std::size_t kept = columns - mark.size(), tail = kept / 2, head = kept - tail;
  std::size_t head_end = text.size(), tail_begin = text.size(), seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (continues_character(text[i])) continue;
    if (seen == head) head_end = i;
    if (seen == all - tail) tail_begin = i;
    ++seen;
  }
  return std::string(text.substr(0, head_end)).append(mark).append(text.substr(tail_begin));
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace pursuit::report
