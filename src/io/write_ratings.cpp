#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include "io/number_text.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit {

namespace {

struct Format {
  std::string_view extension, header, separator, line_end;
};

constexpr Format kFormats[] = {{".dat", "", "::", "::0\n"}, {".csv", "row,col,value\n", ",", "\n"}};

const Format& format_for(const std::filesystem::path& path) {
  std::string extension = path.extension().string(), allowed;
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  for (const Format& format : kFormats) {
    if (extension == format.extension) return format;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", format.extension);
  }
  throw InvalidArgument(
      fmt::format("cannot tell the format of '{}' from its extension; allowed: {}", path.string(), allowed));
}

}  // namespace

void write_ratings(const std::filesystem::path& path, const ObservedEntries& entries) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  const Format& format = format_for(path);
  AtomicFile file(path);
  std::string text(format.header);
  for (std::size_t k = 0; k < entries.value.size(); ++k) {
    io::append_number(text, Index{entries.row[k]} + 1);
    text += format.separator;
    io::append_number(text, Index{entries.col[k]} + 1);
    text += format.separator;
    io::append_number(text, entries.value[k]);
    text += format.line_end;
    if (text.size() >= kBlock) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.commit();
}

void require_ratings_extension(const std::filesystem::path& path) {
  format_for(path);
}

}  // namespace pursuit
