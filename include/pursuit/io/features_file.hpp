#pragma once
// What is known about rows or columns beside their entries, from a file:
//
//   a table   a header that names the features, then one line per member: its id and a cell for every
//   feature.
//             A column of numbers is a feature; one of text is a feature for every word in it, 0 or 1, named
//             like "genre=Comedy", and a cell "Comedy|Drama" holds two.
//   lines     of id, feature and value, under the header "id,feature,value" (any id) or none, or under other
//             words where an id occurs again
//   matrices  MatrixMarket, SciPy .npz, .npy: members and features by position, as in ratings_file.hpp
//
// A header makes a text a table, whatever its ids look like; no header makes it lines. A number that is
// missing is refused, for nobody knows what it should count for; text that is missing is none of the words.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pursuit/completion/complete.hpp"
#include "pursuit/io/id_table.hpp"

namespace pursuit {

struct FeatureFile {
  FeatureTable table;  // of all members
  std::vector<std::string> names;
  bool is_table = false;
  std::vector<std::string> left_out;  // columns of text of which no two members share a word
  Index members = 0;                  // that the file speaks of
};

/// Ids that are new join the members. Every defect is an InvalidInput naming the file, the line and the
/// value.
FeatureFile read_features(const std::filesystem::path& path, IdTable& members);

/// The same of a text in memory, which `name` stands for in messages.
FeatureFile read_features_text(std::string_view text, const std::string& name, IdTable& members);

/// What was known before with what is said now: members that `fresh` speaks of have its features alone.
/// Features that are new follow those there are.
FeatureFile merged(const FeatureFile& old, const FeatureFile& fresh);

}  // namespace pursuit
