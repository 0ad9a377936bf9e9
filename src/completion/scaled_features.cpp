#include "completion/scaled_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

ObservedEntries of_members(const FeatureTable& table, Index members, const char* side) {
  if (table.rows > members)
    throw InvalidInput(
        fmt::format("{} features: {} members, but the matrix has {}", side, table.rows, members));
  ObservedEntries all = table;
  all.rows = members;
  require_valid(all);
  return all;
}

std::vector<double> scales(const ObservedEntries& table) {
  std::vector<double> squares(std::size_t(table.cols), 0.0), counts = squares;
  for (std::size_t e = 0; e < table.value.size(); ++e) {
    squares[table.col[e]] += double(table.value[e]) * table.value[e];
    ++counts[table.col[e]];
  }
  const double per_member = std::max(1.0, double(table.size()) / double(table.rows));
  for (std::size_t f = 0; f < squares.size(); ++f)
    if (squares[f] > 0) squares[f] = 1 / std::sqrt(squares[f] / counts[f] * per_member);
  return squares;
}

ObservedEntries scaled(ObservedEntries table, const std::vector<double>& scale) {
  for (std::size_t e = 0; e < table.value.size(); ++e) table.value[e] *= float(scale[table.col[e]]);
  return table;
}

}  // namespace

ScaledFeatures::ScaledFeatures(const FeatureTable& table, Index members, const char* side)
    : scale_(scales(of_members(table, members, side))),
      table_(pursuit::scaled(of_members(table, members, side), scale_)) {}

FactorMatrix ScaledFeatures::scaled(FactorMatrix weights) const {
  if (weights.rows() > Index(scale_.size())) return {};
  for (Index f = 0; f < weights.rows(); ++f) weights.row(f) *= scale(f) > 0 ? float(1 / scale(f)) : 0.0F;
  return weights;
}

}  // namespace pursuit
