#pragma once
// The files behind sets about particular entries. Text, entries counted from 0, '#' starts a comment, empty
// lines are passed over. Every defect is an InvalidInput naming file, line and value.
//
//   groups   one group per line: the entries in it, separated by blanks or commas; every entry in one group
//   sets     the same, but sets may overlap and leave entries out; .gmt: name, description and entries, by
//   tabs tree     one line per entry: its parent, -1 for a root graph    one edge per line: its two entries;
//   a line with one entry names a vertex without edges mask     one number per entry, 1 where it may be
//   non-zero and 0 elsewhere, in any matrix format
//
// Where the entries have names, a file whose words are not all whole numbers calls them by these, separated
// by tabs, else by commas or semicolons, else by blanks. A tree then has lines of a child and its parent, all
// others being roots, and a mask one name per line. Sets and graphs may know names that the entries do not
// have, which are passed over: annotations cover more than a table has. Elsewhere such a name is refused.
// NamesNeeded where a file holds names and there are none.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pursuit/atoms/structures.hpp"

namespace pursuit {

Groups read_groups(const std::filesystem::path& path, const std::vector<std::string>& names = {});
EntrySets read_sets(const std::filesystem::path& path, const std::vector<std::string>& names = {});
Tree read_tree(const std::filesystem::path& path, const std::vector<std::string>& names = {});
Graph read_graph(const std::filesystem::path& path, const std::vector<std::string>& names = {});
std::vector<unsigned char> read_mask(const std::filesystem::path& path,
                                     const std::vector<std::string>& names = {});
/// The words of every line of a file that calls entries by names; none where all of them are whole numbers.
/// Of .gmt the words between tabs, the name of a set and its description first.
std::optional<std::vector<std::vector<std::string>>> read_names(const std::filesystem::path& path);
/// Columns of a matrix file, sparse where it is sparse.
Dictionary read_dictionary(const std::filesystem::path& path);

}  // namespace pursuit
