#include "pursuit/io/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "io/byte_source.hpp"
#include "io/cell_scanner.hpp"
#include "io/defect.hpp"
#include "io/npy_header.hpp"
#include "io/text_lines.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit {
namespace io {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace
}  // namespace io

TextTable read_text_table(const std::filesystem::path& path) {
  return io::within_memory(path, [&] {
    io::ByteSource source(path);
    if (io::is_npy(source.head()) || io::is_zip(source.head())) io::refuse(source.name(), "this is no text");
    io::TextLines lines(source);
    std::string_view line;
    if (!lines.next_filled(line)) io::refuse(source.name(), "the file holds only blank lines");
    const io::Separator separator = io::find_separator(line, 2);
    TextTable table;
    do {
      io::CellScanner cells(line, separator, io::CellScanner::Quotes::end_with_line, &lines.name(),
                            lines.number() - 1);
      cells.seek_record();
      TextTable::Line& each = table.lines.emplace_back();
      each.number = lines.number();
      while (cells.has_cell()) each.fields.emplace_back(cells.next_cell().text);
      each.text = each.fields.size() == 1 ? each.fields[0] : std::string(io::trimmed(line));
    } while (lines.next_filled(line));
    return table;
  });
}

std::map<std::string, std::string, std::less<>> read_names(const std::filesystem::path& path,
                                                           const std::string& column) {
  const TextTable table = read_text_table(path);
  const std::vector<std::string>& header = table.lines.front().fields;
  std::size_t place = 1;
  if (!column.empty()) {
    place = std::size_t(std::find(header.begin(), header.end(), column) - header.begin());
    if (place == header.size()) {
      const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), place);
      if (error != std::errc{} || end != column.data() + column.size() || place < 1 || place > header.size())
        io::refuse(path.string(),
                   fmt::format("no column is called {}; the first line has {}, or give a "
                               "number from 1 to {}",
                               io::shown(column), io::shown(fmt::format("{}", fmt::join(header, ", "))),
                               header.size()));
      --place;
    }
  }
  std::map<std::string, std::string, std::less<>> names;
  for (const TextTable::Line& line : table.lines) {
    if (place >= line.fields.size())
      io::refuse(io::at_line(path.string(), line.number),
                 fmt::format("{} fields; names are in field {}", line.fields.size(), place + 1));
    names.emplace(line.fields[0], line.fields[place]);
  }
  return names;
}

}  // namespace pursuit
