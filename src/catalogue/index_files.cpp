#include "pursuit/catalogue/index_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/text_lines.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {
namespace {

constexpr Index kLast = 99'999'999;  // a larger number is a mistake, which should not cost memory
constexpr const char* kBlanks = " \t,;";

std::optional<Index> whole(std::string_view word) {
  Index number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// Calls visit(numbers, where) for every line that holds any. Numbers are lowest .. kLast.
template <class Visit>
void for_each_line(const std::filesystem::path& path, Index lowest, const Visit& visit) {
  io::ByteSource source(path);
  io::TextLines lines(source);
  std::vector<Index> numbers;
  for (std::string_view line; lines.next_filled(line);) {
    line = line.substr(0, line.find('#'));
    numbers.clear();
    while (true) {
      const std::size_t first = line.find_first_not_of(kBlanks);
      if (first == std::string_view::npos) break;
      line.remove_prefix(first);
      const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
      const auto number = whole(word);
      if (!number || *number < lowest || *number > kLast)
        throw NamesNeeded(fmt::format(
            "{}: {} is not the number of an entry; entries are counted from 0 up to {}{}, or called by the "
            "names "
            "that the data have",
            lines.here(), io::shown(word), kLast, lowest < 0 ? ", and -1 stands for no parent" : ""));
      numbers.push_back(*number);
      line.remove_prefix(word.size());
    }
    if (!numbers.empty()) visit(numbers, lines.here());
  }
}

struct NamedLine {
  std::vector<std::string> words;
  std::string where;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last + 1 - first);
}

/// Cut at tabs, where there are any, else at commas and semicolons, else at blanks.
std::vector<std::string> words_of(std::string_view line) {
  const char* separators = line.find('\t') != std::string_view::npos            ? "\t"
                           : line.find_first_of(",;") != std::string_view::npos ? ",;"
                                                                                : " ";
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(separators), line.size());
    if (const std::string_view word = trimmed(line.substr(0, end)); !word.empty()) words.emplace_back(word);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

/// The lines of a file that calls entries by names; none where all its words are whole numbers.
std::optional<std::vector<NamedLine>> named_lines(const std::filesystem::path& path) {
  io::ByteSource source(path);
  io::TextLines lines(source);
  std::vector<NamedLine> result;
  bool names = false;
  for (std::string_view line; lines.next_filled(line);) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    NamedLine next{words_of(line), lines.here()};
    for (const std::string& word : next.words)
      for (std::string_view rest = word; !names && !rest.empty();) {
        const std::size_t first = std::min(rest.find_first_not_of(kBlanks), rest.size());
        rest.remove_prefix(first);
        const std::string_view part = rest.substr(0, rest.find_first_of(kBlanks));
        names = !part.empty() && !whole(part);
        rest.remove_prefix(part.size());
      }
    result.push_back(std::move(next));
  }
  if (!names) return std::nullopt;
  return result;
}

class EntryNames {
 public:
  EntryNames(const std::vector<std::string>& names, const std::filesystem::path& path)
      : path_(path.string()) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const auto [known, fresh] = place_.emplace(names[i], Index(i)); !fresh) known->second = kTwice;
  }

  /// Nothing for a name that no entry has.
  std::optional<Index> find(const std::string& name, const std::string& where) const {
    const auto found = place_.find(name);
    if (found == place_.end()) return std::nullopt;
    if (found->second == kTwice)
      io::refuse(where, fmt::format("{} is the name of more than one entry", io::shown(name)));
    return found->second;
  }
  Index at(const std::string& name, const std::string& where) const {
    const auto found = find(name, where);
    if (!found)
      io::refuse(where, fmt::format("{} is not the name of an entry; names look like {}", io::shown(name),
                                    io::shown(place_.begin()->first)));
    return *found;
  }

 private:
  static constexpr Index kTwice = -1;
  std::string path_;
  std::map<std::string, Index> place_;
};

/// Lines whose words stand between tabs, empty ones too.
std::vector<NamedLine> tab_lines(const std::filesystem::path& path) {
  io::ByteSource source(path);
  io::TextLines lines(source);
  std::vector<NamedLine> result;
  for (std::string_view line; lines.next_filled(line);) {
    NamedLine next{{}, lines.here()};
    while (true) {
      const std::size_t tab = line.find('\t');
      next.words.emplace_back(trimmed(line.substr(0, tab)));
      if (tab == std::string_view::npos) break;
      line.remove_prefix(tab + 1);
    }
    result.push_back(std::move(next));
  }
  return result;
}

/// Neither a format of NumPy nor MatrixMarket, which are matrices.
bool is_plain_text(const std::filesystem::path& path) {
  const io::ByteSource source(path);
  const std::string_view head = source.head();
  return !head.starts_with("\x93NUMPY") && !head.starts_with("PK") && !head.starts_with("%%MatrixMarket") &&
         head.find('\0') == std::string_view::npos;
}

/// What is read by names, if the entries have any and the file holds some.
std::optional<std::vector<NamedLine>> by_names(const std::filesystem::path& path,
                                               const std::vector<std::string>& names) {
  return names.empty() ? std::nullopt : named_lines(path);
}

}  // namespace

Groups read_groups(const std::filesystem::path& path, const std::vector<std::string>& names) {
  if (const auto lines = by_names(path, names)) {
    const EntryNames entries(names, path);
    Groups groups{std::vector<Index>(names.size(), -1), path.string()};
    for (std::size_t g = 0; g < lines->size(); ++g)
      for (const std::string& word : (*lines)[g].words) {
        Index& own = groups.group_of[std::size_t(entries.at(word, (*lines)[g].where))];
        if (own >= 0)
          io::refuse(
              (*lines)[g].where,
              fmt::format("{} is in group {} and in group {}; groups do not overlap, but sets:FILE:G may",
                          io::shown(word), own + 1, g + 1));
        own = Index(g);
      }
    const auto lost = std::find(groups.group_of.begin(), groups.group_of.end(), -1);
    if (lost != groups.group_of.end())
      io::refuse(path.string(),
                 fmt::format("{} entries are in no group, the first is {}; every entry needs a group, but "
                             "sets:FILE:G may leave entries out",
                             std::count(groups.group_of.begin(), groups.group_of.end(), -1),
                             io::shown(names[std::size_t(lost - groups.group_of.begin())])));
    return groups;
  }
  std::vector<Index> entries, sizes;  // of all groups after each other
  std::vector<std::string> places;
  for_each_line(path, 0, [&](const std::vector<Index>& line, const std::string& where) {
    entries.insert(entries.end(), line.begin(), line.end());
    sizes.push_back(Index(line.size()));
    places.push_back(where);
  });
  if (entries.empty()) io::refuse(path.string(), "holds no group; one line per group is expected");
  const Index last = *std::max_element(entries.begin(), entries.end());
  // No more than there are numbers: where the last entry lies beyond, others are missing.
  Groups groups{std::vector<Index>(std::min(std::size_t(last) + 1, entries.size()), -1), path.string()};
  auto entry = entries.begin();
  for (std::size_t group = 0; group < sizes.size(); ++group)
    for (Index m = 0; m < sizes[group]; ++m, ++entry) {
      if (*entry >= Index(groups.group_of.size())) continue;
      Index& own = groups.group_of[std::size_t(*entry)];
      if (own >= 0)
        io::refuse(places[group],
                   fmt::format("entry {} is in group {} and in group {}; groups do not overlap", *entry,
                               own + 1, group + 1));
      own = Index(group);
    }
  const auto lost = std::find(groups.group_of.begin(), groups.group_of.end(), -1);
  if (lost != groups.group_of.end())
    io::refuse(path.string(),
               fmt::format("entry {} is in no group, though entry {} is in one; every entry needs a group",
                           lost - groups.group_of.begin(), last));
  return groups;
}

EntrySets read_sets(const std::filesystem::path& path, const std::vector<std::string>& names) {
  EntrySets sets{Index(names.size()), {}, path.string()};
  const bool gmt = path.extension() == ".gmt";
  if (gmt && names.empty())
    throw NamesNeeded(fmt::format("{}: calls entries by names, and the data have none", path.string()));
  const auto lines = gmt ? std::optional(tab_lines(path)) : by_names(path, names);
  if (!lines) {
    for_each_line(path, 0,
                  [&](const std::vector<Index>& line, const std::string&) { sets.members.push_back(line); });
    if (sets.members.empty()) io::refuse(path.string(), "holds no set; one line per set is expected");
    return sets;
  }
  const EntryNames entries(names, path);
  for (const NamedLine& line : *lines) {
    constexpr std::size_t kBefore = 2;  // of .gmt: the name of the set and what it is
    if (gmt && line.words.size() < kBefore)
      io::refuse(line.where, "has no tab; a line of .gmt is a name, a description and entries, by tabs");
    std::vector<Index> members;
    for (std::size_t w = gmt ? kBefore : 0; w < line.words.size(); ++w)
      if (const auto entry = entries.find(line.words[w], line.where)) members.push_back(*entry);
    if (!members.empty()) sets.members.push_back(std::move(members));
  }
  if (sets.members.empty())
    io::refuse(path.string(), fmt::format("none of its names is one of an entry; these look like {}",
                                          io::shown(names.front())));
  return sets;
}

Tree read_tree(const std::filesystem::path& path, const std::vector<std::string>& names) {
  if (const auto lines = by_names(path, names)) {
    const EntryNames entries(names, path);
    Tree named{std::vector<Index>(names.size(), -1), path.string()};
    for (const NamedLine& line : *lines) {
      if (line.words.size() != 2)
        io::refuse(line.where,
                   fmt::format("holds {} names; a child and its parent are expected", line.words.size()));
      Index& parent = named.parent[std::size_t(entries.at(line.words[0], line.where))];
      if (parent >= 0)
        io::refuse(line.where, fmt::format("{} has a parent already", io::shown(line.words[0])));
      parent = entries.at(line.words[1], line.where);
    }
    return named;
  }
  Tree tree{{}, path.string()};
  for_each_line(path, -1, [&](const std::vector<Index>& numbers, const std::string& where) {
    if (numbers.size() != 1)
      io::refuse(where, fmt::format("holds {} numbers; the parent of one entry is expected", numbers.size()));
    tree.parent.push_back(numbers.front());
  });
  if (tree.parent.empty()) io::refuse(path.string(), "holds no node; one line per entry is expected");
  return tree;
}

Graph read_graph(const std::filesystem::path& path, const std::vector<std::string>& names) {
  if (const auto lines = by_names(path, names)) {
    const EntryNames entries(names, path);
    Graph named{Index(names.size()), {}, path.string()};
    for (const NamedLine& line : *lines) {
      if (line.words.size() > 2)
        io::refuse(line.where,
                   fmt::format("holds {} names; the two ends of an edge are expected", line.words.size()));
      if (line.words.size() < 2) continue;
      const auto from = entries.find(line.words[0], line.where), to = entries.find(line.words[1], line.where);
      if (!from || !to) continue;
      if (*from == *to) io::refuse(line.where, fmt::format("joins {} with itself", io::shown(line.words[0])));
      named.edges.emplace_back(*from, *to);
    }
    if (named.edges.empty())
      io::refuse(path.string(),
                 fmt::format("joins no two entries; their names look like {}", io::shown(names.front())));
    return named;
  }
  Graph graph{0, {}, path.string()};
  for_each_line(path, 0, [&](const std::vector<Index>& ends, const std::string& where) {
    if (ends.size() > 2)
      io::refuse(where, fmt::format("holds {} numbers; the two ends of an edge are expected", ends.size()));
    for (const Index i : ends) graph.vertices = std::max(graph.vertices, i + 1);
    if (ends.size() == 1) return;
    if (ends[0] == ends[1]) io::refuse(where, fmt::format("joins vertex {} with itself", ends[0]));
    graph.edges.emplace_back(ends[0], ends[1]);
  });
  if (graph.vertices == 0) io::refuse(path.string(), "holds no edge; one line per edge is expected");
  return graph;
}

namespace {

std::vector<unsigned char> mask_of_numbers(const std::filesystem::path& path) {
  const NamedMatrix file = read_matrix(path);
  if (rows_of(file.matrix) != 1 && cols_of(file.matrix) != 1)
    io::refuse(path.string(), fmt::format("is {} x {}; a mask is one row or one column", rows_of(file.matrix),
                                          cols_of(file.matrix)));
  const Matrix values =
      std::visit([](const auto& matrix) { return Matrix(matrix.template cast<double>()); }, file.matrix);
  std::vector<unsigned char> mask;
  for (Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    if (value != 0 && value != 1)
      io::refuse(path.string(), fmt::format("entry {} is {}; a mask holds 0 and 1", i, value));
    mask.push_back(value == 1);
  }
  return mask;
}

}  // namespace

std::vector<unsigned char> read_mask(const std::filesystem::path& path,
                                     const std::vector<std::string>& names) {
  try {
    return mask_of_numbers(path);
  } catch (const InvalidInput& error) {
    const auto lines = is_plain_text(path) ? named_lines(path) : std::nullopt;
    if (!lines) throw;
    if (names.empty()) throw NamesNeeded(error.what());
    const EntryNames entries(names, path);
    std::vector<unsigned char> inside(names.size(), 0);
    for (const NamedLine& line : *lines)
      for (const std::string& word : line.words) inside[std::size_t(entries.at(word, line.where))] = 1;
    return inside;
  }
}

std::optional<std::vector<std::vector<std::string>>> read_names(const std::filesystem::path& path) {
  auto lines = path.extension() == ".gmt" ? std::optional(tab_lines(path)) : named_lines(path);
  if (!lines) return std::nullopt;
  std::vector<std::vector<std::string>> words;
  words.reserve(lines->size());
  for (NamedLine& line : *lines) words.push_back(std::move(line.words));
  return words;
}

Dictionary read_dictionary(const std::filesystem::path& path) {
  const NamedMatrix file = read_matrix(path);
  Dictionary dictionary{.source = path.string()};
  std::visit(
      [&]<class M>(const M& matrix) {
        if constexpr (std::is_base_of_v<Eigen::SparseMatrixBase<M>, M>)
          dictionary.columns = Eigen::SparseMatrix<double>(matrix.template cast<double>());
        else
          dictionary.columns = Matrix(matrix.template cast<double>());
      },
      file.matrix);
  return dictionary;
}

}  // namespace pursuit
