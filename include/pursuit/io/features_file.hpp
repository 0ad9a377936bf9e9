#pragma once
// What is known about rows or columns beside their entries, from a file:
//
//   a table   a header that names the features, then one line per member: its id and a number for every
//   feature lines     of id, feature and value, under the header "id,feature,value" (any id) or none matrices
//   MatrixMarket, SciPy .npz, .npy: members and features by position, as in ratings_file.hpp
//
// A header other than the one above makes a text a table, whatever its ids look like; no header makes it
// lines. Every cell of a table must be a number: a missing one is refused, for nobody knows what it should
// count for.

#include <filesystem>
#include <string>
#include <vector>

#include "pursuit/completion/complete.hpp"
#include "pursuit/io/id_table.hpp"

namespace pursuit {

struct FeatureFile {
  FeatureTable table;  // of all members
  std::vector<std::string> names;
  bool is_table = false;
  Index members = 0;  // that the file speaks of
};

/// Ids that are new join the members. Every defect is an InvalidInput naming the file, the line and the
/// value.
FeatureFile read_features(const std::filesystem::path& path, IdTable& members);

}  // namespace pursuit
