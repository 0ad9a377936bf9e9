#include "pursuit/io/tensor_names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/npy_header.hpp"
#include "io/table_layout.hpp"
#include "io/text_lines.hpp"
#include "io/utf8.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit {

ModePlaces::ModePlaces(const ModeNames& names, std::vector<Index> shape) : shape_(std::move(shape)) {
  names_.reserve(names.size());
  for (const std::vector<std::string>& each : names) names_.emplace_back(each);
}

int ModePlaces::find(Index mode, std::string_view id) const {
  if (has_names(mode)) return names_[std::size_t(mode)].find(id);
  Index place = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), place);
  const bool is_place = error == std::errc{} && end == id.data() + id.size() && place >= 1 &&
                        place <= shape_[std::size_t(mode)];
  return is_place ? int(place) - 1 : -1;
}

std::string ModePlaces::id(Index mode, Index place) const {
  return has_names(mode) ? std::string(names_[std::size_t(mode)].name(int(place)))
                         : fmt::format("{}", place + 1);
}

Index bring_to(const ModePlaces& places, const ModeNames& own, SparseTensor& entries) {
  if (own.empty()) return 0;
  std::vector<std::vector<int>> there(own.size());  // where every index of every mode goes
  for (std::size_t m = 0; m < own.size(); ++m) {
    there[m].reserve(own[m].size());
    for (const std::string& id : own[m]) there[m].push_back(places.find(Index(m), id));
    if (!own[m].empty()) entries.shape[m] = places.shape()[m];
  }
  const std::size_t count = entries.value.size();
  std::size_t kept = 0;
  for (std::size_t e = 0; e < count; ++e) {
    bool known = true;
    for (std::size_t m = 0; m < own.size(); ++m) {
      int& index = entries.index[m][kept];
      index = entries.index[m][e];
      if (!own[m].empty()) index = there[m][std::size_t(index)];
      known = known && index >= 0;
    }
    entries.value[kept] = entries.value[e];
    if (known) ++kept;
  }
  for (std::vector<int>& index : entries.index) index.resize(kept);
  entries.value.resize(kept);
  return Index(count - kept);
}

EntryIds read_entry_ids(const std::filesystem::path& path, Index modes) {
  return io::within_memory(path, [&] {
    io::ByteSource source(path);
    const std::string_view head = source.head();
    if (io::is_npy(head) || io::is_zip(head))
      io::refuse(source.name(),
                 fmt::format("an array; the {} ids of an entry are text, on a line each", modes));
    const std::string_view first = head.substr(0, head.find('\n'));
    const io::Separator separator = io::find_table_separator(first);
    io::TextLines lines(source);
    EntryIds ids(static_cast<std::size_t>(modes));
    std::string_view line;
    while (lines.next_filled(line)) {
      io::CellScanner cells(line, separator, io::CellScanner::Quotes::end_with_line, &lines.name(),
                            lines.number() - 1);
      cells.seek_record();
      for (std::size_t m = 0; m < ids.size(); ++m) {
        if (!cells.has_cell())
          io::refuse(lines.here(), fmt::format("{} cells; an entry of this model has {} ids", m, modes));
        const std::string_view id = cells.next_cell().text;
        if (!io::is_utf8(id)) io::refuse(lines.here(), fmt::format("the id of mode {} is not UTF-8", m));
        ids[m].emplace_back(id);
      }
    }
    return ids;
  });
}

}  // namespace pursuit
