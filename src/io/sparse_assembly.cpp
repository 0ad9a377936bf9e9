#include "io/sparse_assembly.hpp"

#include <fmt/format.h>

#include <limits>

#include "io/defect.hpp"

namespace pursuit::io {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<int>::max();

}  // namespace

void require_indexable(const std::string& where, std::int64_t rows, std::int64_t columns) {
  const std::string size = fmt::format("{} x {}", rows, columns);
  if (rows < 0 || columns < 0) refuse(where, fmt::format("negative size {}", size));
  if (rows == 0 || columns == 0) refuse(where, fmt::format("empty matrix ({})", size));
  if (rows > kMost || columns > kMost) {
    refuse(where,
           fmt::format("size {} is too large: at most {} rows and columns are supported", size, kMost));
  }
}

void require_storable(const std::string& where, std::int64_t rows, std::int64_t columns,
                      std::int64_t entries) {
  require_indexable(where, rows, columns);
  if (entries < 0) refuse(where, fmt::format("negative number of entries {}", entries));
  if (entries > kMost) {
    refuse(where, fmt::format("{} stored entries are too many: at most {} are supported", entries, kMost));
  }
  constexpr std::int64_t kAlwaysAllowed = std::int64_t{1} << 24, kRowsPerEntry = 64;
  const std::int64_t most_rows = std::max(kAlwaysAllowed, kRowsPerEntry * entries);
  if (rows > most_rows) {
    refuse(where, fmt::format("{} rows are implausible for {} stored entries: at most {} are supported", rows,
                              entries, most_rows));
  }
}

}  // namespace pursuit::io
