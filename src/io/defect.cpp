#include "io/defect.hpp"

#include <fmt/format.h>

#include "io/byte_source.hpp"
#include "io/utf8.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/memory_limit.hpp"

namespace pursuit::io {

void refuse(const std::string& where, const std::string& defect) {
  throw InvalidInput(where + ": " + defect);
}

std::string at_line(const std::string& name, std::size_t line) {
  return fmt::format("{}, line {}", name, line);
}

std::string at_cell(const std::string& name, std::size_t line, std::size_t column) {
  return fmt::format("{}, line {}, column {}", name, line, column);
}

std::string memory_there_is() {
  const auto limit = memory_limit();
  return limit ? fmt::format("the limit of this process, {}", human_size(*limit)) : "there is";
}

void refuse_for_memory(const std::filesystem::path& path) {
  refuse(path.string(), "reading it needs more memory than " + memory_there_is());
}

std::string shown(std::string_view value) {
  constexpr std::size_t kLongest = 40;
  const bool cut = value.size() > kLongest;
  value = value.substr(0, kLongest);
  // A cut may fall inside a character of several bytes: drop what remains of it.
  for (int back = 0; cut && back < 3 && !value.empty() && !decode_utf8(value); ++back) value.remove_suffix(1);
  const bool keep_high_bytes = decode_utf8(value).has_value();

  std::string text = "'";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool printable = byte >= 0x80 ? keep_high_bytes : byte >= 0x20 && byte != 0x7F;
    if (printable) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", byte);
    }
  }
  return text + (cut ? "...'" : "'");
}

}  // namespace pursuit::io
