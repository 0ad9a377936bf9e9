#pragma once
// The files behind sets about particular entries. Text, entries counted from 0, '#' starts a comment, empty
// lines are passed over. Every defect is an InvalidInput naming file, line and value.
//
//   groups   one group per line: the entries in it, separated by blanks or commas; every entry in one group
//   tree     one line per entry: its parent, -1 for a root
//   graph    one edge per line: its two entries; a line with one entry names a vertex without edges
//   mask     one number per entry, 1 where it may be non-zero and 0 elsewhere, in any matrix format

#include <filesystem>

#include "pursuit/atoms/structures.hpp"

namespace pursuit {

Groups read_groups(const std::filesystem::path& path);
Tree read_tree(const std::filesystem::path& path);
Graph read_graph(const std::filesystem::path& path);
std::vector<unsigned char> read_mask(const std::filesystem::path& path);
/// Columns of a matrix file, sparse where it is sparse.
Dictionary read_dictionary(const std::filesystem::path& path);

}  // namespace pursuit
