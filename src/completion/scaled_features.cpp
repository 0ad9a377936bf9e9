#include "completion/scaled_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

GroupedEntries grouped_by_feature(const FeatureTable& table, Index members, const char* side) {
  if (table.rows > members)
    throw InvalidInput(
        fmt::format("{} features: {} members, but the matrix has {}", side, table.rows, members));
  ObservedEntries all = table;
  all.rows = members;
  return ObservedMatrix(std::move(all)).by_col();
}

}  // namespace

ScaledFeatures::ScaledFeatures(const FeatureTable& table, Index members, const char* side)
    : by_feature_(grouped_by_feature(table, members, side)), scale_(std::size_t(by_feature_.size()), 0.0) {
  const double per_member = std::max(1.0, double(table.size()) / double(members));
  for (Index f = 0; f < by_feature_.size(); ++f) {
    const std::int64_t first = by_feature_.start[f], last = by_feature_.start[f + 1];
    double squares = 0;
    for (std::int64_t e = first; e < last; ++e)
      squares += double(by_feature_.value[e]) * by_feature_.value[e];
    if (squares > 0) scale_[f] = 1 / std::sqrt(squares / double(last - first) * per_member);
    for (std::int64_t e = first; e < last; ++e) by_feature_.value[e] *= float(scale_[f]);
  }
}

}  // namespace pursuit
