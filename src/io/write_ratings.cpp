#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "io/number_text.hpp"
#include "io/text_writer.hpp"
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

void write_ratings(const std::filesystem::path& path, const ObservedEntries& entries, int threads) {
  const Format& format = format_for(path);
  AtomicFile file(path);
  io::TextWriter writer([&](std::string_view bytes) { file.write(bytes); }, threads);
  writer.write(format.header);
  writer.write_lines(entries.size(), 3, [&](std::string& text, Index entry) {
    const auto k = static_cast<std::size_t>(entry);
    io::append_number(text, Index{entries.row[k]} + 1);
    text += format.separator;
    io::append_number(text, Index{entries.col[k]} + 1);
    text += format.separator;
    io::append_number(text, entries.value[k]);
    text += format.line_end;
  });
  file.commit();
}

void require_ratings_extension(const std::filesystem::path& path) {
  format_for(path);
}

}  // namespace pursuit
