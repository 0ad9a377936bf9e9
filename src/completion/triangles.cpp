#include "completion/triangles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "pursuit/base/error.hpp"

namespace pursuit {

ObservedEntries upper_triangle(const ObservedEntries& entries) {
  ObservedEntries both = entries;
  for (std::size_t e = 0; e < both.row.size(); ++e)
    if (both.row[e] > both.col[e]) std::swap(both.row[e], both.col[e]);
  std::vector<std::size_t> order(both.row.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  const auto key = [&](std::size_t e) { return std::pair(both.row[e], both.col[e]); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
  ObservedEntries result{entries.rows, entries.cols, {}, {}, {}};
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t e = order[k];
    if (k > 0 && key(order[k - 1]) == key(e)) {
      const std::size_t other = order[k - 1];
      if (both.value[other] != both.value[e])
        throw InvalidInput(
            fmt::format("not symmetric: the entry at row {}, column {} is {}, at row {}, column {} it is {}",
                        entries.row[other], entries.col[other], entries.value[other], entries.row[e],
                        entries.col[e], entries.value[e]));
      continue;
    }
    result.row.push_back(both.row[e]);
    result.col.push_back(both.col[e]);
    result.value.push_back(both.value[e]);
  }
  return result;
}

ObservedEntries mirrored(ObservedEntries upper) {
  for (std::size_t e = 0, count = upper.row.size(); e < count; ++e)
    if (upper.row[e] != upper.col[e]) {
      const int i = upper.row[e], j = upper.col[e];
      const float value = upper.value[e];
      upper.row.push_back(j);
      upper.col.push_back(i);
      upper.value.push_back(value);
    }
  return upper;
}

Index count_of(const ObservedEntries& entries, bool symmetric) {
  Index count = entries.size();
  for (std::size_t e = 0; e < entries.row.size() && symmetric; ++e) count += entries.row[e] != entries.col[e];
  return count;
}

}  // namespace pursuit
