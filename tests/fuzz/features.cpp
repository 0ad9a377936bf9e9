// Whatever the text, the reader of side information returns features of members that have ids, or throws
// InvalidInput; and what it read goes together with itself.

#include <cmath>

#include "fuzz/target.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/features_file.hpp"

namespace pursuit::fuzz {
namespace {

void require_sound(const FeatureFile& file, const IdTable& members) {
  const FeatureTable& table = file.table;
  require(table.row.size() == table.value.size() && table.col.size() == table.value.size(),
          "numbers are parallel");
  require(table.rows == members.size() && table.cols == Index(file.names.size()),
          "members and features are as many as names");
  for (std::size_t k = 0; k < table.value.size(); ++k) {
    require(table.row[k] >= 0 && table.row[k] < table.rows, "members are in range");
    require(table.col[k] >= 0 && table.col[k] < table.cols, "features are in range");
    require(std::isfinite(table.value[k]), "values are finite");
  }
}

}  // namespace

void read_feature_tables(std::string_view bytes) {
  IdTable members(std::vector<std::string>{"1", "m2"});
  try {
    const FeatureFile file = read_features_text(bytes, "input", members);
    require_sound(file, members);
    const FeatureFile twice = merged(file, file);
    require_sound(twice, members);
    require(twice.names.size() == file.names.size(), "a file brings nothing new to itself");
  } catch (const InvalidInput&) {
  }
}

}  // namespace pursuit::fuzz
