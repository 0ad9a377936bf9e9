#include "io/tensor_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>

#include "io/defect.hpp"
#include "io/entries_part.hpp"
#include "io/table_layout.hpp"
#include "io/text_lines.hpp"
#include "io/utf8.hpp"
#include "pursuit/io/id_table.hpp"

namespace pursuit::io {
namespace {

/// Entries of a piece of the text, with ids of its own.
struct IdsPart {
  std::vector<IdTable> ids;
  std::vector<std::vector<int>> index;
  std::vector<double> value;
  EntryLines lines;
  Place before, extent;
};

/// The ids in their order, and where each went.
struct OrderedIds {
  std::vector<std::string> names;
  std::vector<int> place;
};

OrderedIds in_order(const IdTable& table) {
  OrderedIds result{table.names(), std::vector<int>(std::size_t(table.size()))};
  std::vector<std::int64_t> numbers;
  for (const std::string& name : result.names) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) break;
    numbers.push_back(number);
  }
  std::vector<int> order(result.names.size());
  std::iota(order.begin(), order.end(), 0);
  if (numbers.size() == result.names.size())
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return numbers[std::size_t(a)] < numbers[std::size_t(b)]; });
  std::vector<std::string> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.place[std::size_t(order[i])] = int(i);
    sorted.push_back(std::move(result.names[std::size_t(order[i])]));
  }
  result.names = std::move(sorted);
  return result;
}

class TensorTableReader {
 public:
  explicit TensorTableReader(ByteSource& source) : lines_(source) {}

  TensorEntries read(int threads) {
    read_first_line();
    lines_.in_parts<IdsPart>(
        {.threads = threads},
        [&](std::string_view piece, const Place& before, IdsPart& part) { parse(piece, before, part); },
        [&](const std::vector<IdsPart>& parts, std::size_t) {
          for (const IdsPart& part : parts) append(part);
        });
    if (result_.entries.value.empty()) refuse(lines_.name(), "the file lists no entry");
    for (std::size_t m = 0; m < modes_; ++m) {
      OrderedIds ids = in_order(ids_[m]);
      for (int& i : result_.entries.index[m]) i = ids.place[std::size_t(i)];
      result_.entries.shape.push_back(Index(ids.names.size()));
      result_.names.push_back(std::move(ids.names));
    }
    if (const auto twice = find_same_place(result_.entries))
      refuse(at_line(lines_.name(), entry_lines_.of(twice->second)),
             fmt::format("this place was already given on line {}", entry_lines_.of(twice->first)));
    return std::move(result_);
  }

 private:
  void read_first_line() {
    std::string_view line;
    if (!lines_.next_filled(line)) refuse(lines_.name(), "the file lists no entry");
    separator_ = find_table_separator(line);
    CellScanner cells(line, separator_, CellScanner::Quotes::end_with_line, &lines_.name(), 0);
    cells.seek_record();
    const std::vector<Cell> first = cells.remaining_cells();
    if (first.size() < 3 || first.size() > std::size_t(kMostModes) + 1)
      refuse(lines_.here(),
             fmt::format("{} cells; an entry has 2 to {} ids and a value", first.size(), kMostModes));
    modes_ = first.size() - 1;
    if (kind_of(first.back().text) == CellKind::kName)
      for (std::size_t m = 0; m < modes_; ++m) result_.labels.emplace_back(first[m].text);
    else
      lines_.step_back();
    ids_.resize(modes_);
    result_.entries.index.resize(modes_);
  }

  void parse(std::string_view piece, const Place& before, IdsPart& part) const {
    CellScanner cells(piece, separator_, CellScanner::Quotes::end_with_line, &lines_.name(), before.lines);
    const auto here = [&] { return at_line(lines_.name(), cells.record_line()); };
    part.ids.resize(modes_);
    part.index.resize(modes_);
    while (cells.seek_record()) {
      part.lines.note(part.value.size(), cells.record_line());
      for (std::size_t m = 0; m < modes_; ++m) {
        if (!cells.has_cell())
          refuse(here(), fmt::format("{} cells; an entry here has {} ids and a value", m, modes_));
        const std::string_view id = cells.next_cell().text;
        if (id.empty()) refuse(here(), fmt::format("the id of mode {} is empty", m));
        if (!is_utf8(id)) refuse(here(), fmt::format("the id {} of mode {} is not UTF-8", shown(id), m));
        part.index[m].push_back(part.ids[m].add(id));
      }
      double value = 0;
      if (!cells.has_cell()) refuse(here(), "the value is missing");
      if (!cells.next_number(value))
        refuse(here(), fmt::format("value {} is not a finite number", shown(cells.next_cell().text)));
      part.value.push_back(value);
      if (cells.has_cell())
        refuse(here(),
               fmt::format("unexpected {} after the end of the entry", shown(cells.next_cell().text)));
    }
    part.extent = {cells.lines_passed() - before.lines, part.value.size()};
  }

  void append(const IdsPart& part) {
    entry_lines_.append(part.lines, part.before.entries, part.before.lines);
    for (std::size_t m = 0; m < modes_; ++m) {
      std::vector<int> known;  // the ids of the part among those of all
      known.reserve(std::size_t(part.ids[m].size()));
      for (int i = 0; i < part.ids[m].size(); ++i) known.push_back(ids_[m].add(part.ids[m].name(i)));
      for (const int i : part.index[m]) result_.entries.index[m].push_back(known[std::size_t(i)]);
    }
    result_.entries.value.insert(result_.entries.value.end(), part.value.begin(), part.value.end());
  }

  TextLines lines_;
  Separator separator_ = Separator::kComma;
  std::size_t modes_ = 0;
  std::vector<IdTable> ids_;
  EntryLines entry_lines_;
  TensorEntries result_;
};

}  // namespace

bool is_tensor_table(std::string_view head) {
  const std::string_view first = head.substr(0, head.find('\n'));
  return !first.starts_with('#') && first.find_first_of(",;\t") != std::string_view::npos;
}

TensorEntries read_tensor_table(ByteSource& source, int threads) {
  return TensorTableReader(source).read(threads);
}

}  // namespace pursuit::io
