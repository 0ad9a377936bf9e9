#include "catalogue/index_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/text_lines.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {
namespace {

constexpr Index kLast = 99'999'999;  // a larger number is a mistake, which should not cost memory

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
      const std::size_t first = line.find_first_not_of(" \t,;");
      if (first == std::string_view::npos) break;
      line.remove_prefix(first);
      const std::string_view word = line.substr(0, line.find_first_of(" \t,;"));
      Index number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc{} || end != word.data() + word.size() || number < lowest || number > kLast)
        io::refuse(lines.here(),
                   fmt::format("{} is not the number of an entry; entries are counted from 0 up to {}{}",
                               io::shown(word), kLast, lowest < 0 ? ", and -1 stands for no parent" : ""));
      numbers.push_back(number);
      line.remove_prefix(word.size());
    }
    if (!numbers.empty()) visit(numbers, lines.here());
  }
}

}  // namespace

Groups read_groups(const std::filesystem::path& path) {
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

Tree read_tree(const std::filesystem::path& path) {
  Tree tree{{}, path.string()};
  for_each_line(path, -1, [&](const std::vector<Index>& numbers, const std::string& where) {
    if (numbers.size() != 1)
      io::refuse(where, fmt::format("holds {} numbers; the parent of one entry is expected", numbers.size()));
    tree.parent.push_back(numbers.front());
  });
  if (tree.parent.empty()) io::refuse(path.string(), "holds no node; one line per entry is expected");
  return tree;
}

Graph read_graph(const std::filesystem::path& path) {
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

std::vector<unsigned char> read_mask(const std::filesystem::path& path) {
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
