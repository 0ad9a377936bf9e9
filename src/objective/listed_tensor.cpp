#include "objective/listed_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr double kMostPlaces = 1e8;  // that a loss without short cuts for zeros is made to look at

bool has_weight(const ObservedTensor& data, std::size_t e) {
  return data.weights.empty() || data.weights[e] > 0;
}

}  // namespace

Expansion no_atoms(const std::vector<Index>& shape, const std::vector<Index>& panel_of_mode) {
  std::vector<Panel> panels(std::size_t(*std::max_element(panel_of_mode.begin(), panel_of_mode.end())) + 1);
  for (std::size_t mode = 0; mode < shape.size(); ++mode)
    panels[std::size_t(panel_of_mode[mode])].resize(shape[mode], 0);
  return {Factors(std::move(panels), panel_of_mode), Vector(0)};
}

Expansion no_atoms(const std::vector<Index>& shape) {
  std::vector<Index> own(shape.size());
  std::iota(own.begin(), own.end(), Index(0));
  return no_atoms(shape, own);
}

ListedGroups groups_along(const ObservedTensor& data, Index mode) {
  const auto& [shape, index, value] = data.entries;
  std::vector<Index> order = sorted_order(data.entries, mode);
  std::erase_if(order, [&](Index e) { return !has_weight(data, std::size_t(e)); });
  ListedGroups result;
  StoredEntries& y = result.y;
  const Index first = mode == 0 ? 1 : 0;
  y.rows = shape[std::size_t(mode)];
  y.cols = shape[std::size_t(first)];
  y.start.assign(std::size_t(y.rows) + 1, 0);
  const std::vector<int>& own = index[std::size_t(mode)];
  for (const Index e : order) ++y.start[std::size_t(own[std::size_t(e)]) + 1];
  std::partial_sum(y.start.begin(), y.start.end(), y.start.begin());
  const auto ordered = [&](const auto& list, auto& to) {
    to.reserve(order.size());
    for (const Index e : order) to.push_back(list[std::size_t(e)]);
  };
  ordered(value, y.value);
  if (!data.weights.empty()) ordered(data.weights, result.weight);
  for (Index other = 0; other < data.modes(); ++other)
    if (other != mode)
      ordered(index[std::size_t(other)], other == first ? y.index : result.further.emplace_back());
  return result;
}

void require_observed(const ObservedTensor& data) {
  require_entries(data.entries);
  if (const auto twice = find_same_place(data.entries))
    throw InvalidInput(
        fmt::format("entries {} and {} are the same place", twice->first + 1, twice->second + 1));
  if (data.size() == 0 && !data.others_are_zero) throw InvalidInput("no entry is known");
  if (data.weights.empty()) return;
  if (data.weights.size() != data.entries.value.size())
    throw InvalidInput(
        fmt::format("entry weights: there are {} for {} entries", data.weights.size(), data.size()));
  double most = 0;
  for (std::size_t e = 0; e < data.weights.size(); ++e) {
    if (!(data.weights[e] >= 0 && std::isfinite(data.weights[e]))) {
      std::vector<int> at;
      for (const auto& list : data.entries.index) at.push_back(list[e] + 1);
      throw InvalidInput(fmt::format("entry weight ({}) is {}; weights must be numbers of at least 0",
                                     fmt::join(at, ", "), data.weights[e]));
    }
    most = std::max(most, data.weights[e]);
  }
  if (most == 0) throw InvalidInput("entry weights: no entry has a weight above 0");
}

ObservedTensor without_zeros(const ObservedTensor& data) {
  ObservedTensor kept{
      {data.entries.shape, std::vector<std::vector<int>>(data.entries.shape.size()), {}}, {}, true};
  for (std::size_t e = 0; e < data.entries.value.size(); ++e) {
    if (data.entries.value[e] == 0) continue;
    for (std::size_t m = 0; m < kept.entries.index.size(); ++m)
      kept.entries.index[m].push_back(data.entries.index[m][e]);
    kept.entries.value.push_back(data.entries.value[e]);
  }
  return kept;
}

ObservedTensor with_zeros(const ObservedTensor& data, const Loss& loss) {
  const std::vector<Index>& shape = data.entries.shape;
  double places = 1;
  for (const Index size : shape) places *= double(size);
  if (places > kMostPlaces)
    throw InvalidInput(fmt::format(
        "loss {} looks at every one of {:.3g} entries, zeros too; loss poisson and squares do not",
        loss.spec(), places));
  ObservedTensor full{{shape, std::vector<std::vector<int>>(shape.size()), {}}, {}, false};
  const std::vector<Index> order = sorted_order(data.entries, 0);
  std::size_t next = 0;
  std::vector<int> at(shape.size(), 0);
  for (Index place = 0; place < Index(places); ++place) {
    const auto e = std::size_t(next < order.size() ? order[next] : 0);
    bool listed = next < order.size();
    for (std::size_t m = 0; listed && m < at.size(); ++m) listed = data.entries.index[m][e] == at[m];
    if (listed) ++next;
    for (std::size_t m = 0; m < at.size(); ++m) full.entries.index[m].push_back(at[m]);
    full.entries.value.push_back(listed ? data.entries.value[e] : 0.0);
    if (!data.weights.empty()) full.weights.push_back(listed ? data.weights[e] : 1.0);
    for (std::size_t m = at.size(); m-- > 0;) {
      if (++at[m] < int(shape[m])) break;
      at[m] = 0;
    }
  }
  return full;
}

void require_domain(const ObservedTensor& data, const Loss& loss) {
  for (std::size_t e = 0; e < data.entries.value.size(); ++e) {
    const double y = data.entries.value[e];
    if (loss.accepts(y) || !has_weight(data, e)) continue;
    std::vector<int> at;
    for (const auto& list : data.entries.index) at.push_back(list[e] + 1);
    throw InvalidInput(fmt::format("entry ({}) of the array is {}; loss {} takes {}; {} would take it",
                                   fmt::join(at, ", "), y, loss.spec(), loss.domain(), losses_for(y)));
  }
}

std::vector<Index> places_without_entries(const ObservedTensor& data, Index mode) {
  std::vector<bool> seen(std::size_t(data.entries.shape[std::size_t(mode)]), data.others_are_zero);
  const std::vector<int>& own = data.entries.index[std::size_t(mode)];
  for (std::size_t e = 0; e < own.size(); ++e)
    if (has_weight(data, e)) seen[std::size_t(own[e])] = true;
  std::vector<Index> result;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) result.push_back(Index(i));
  return result;
}

}  // namespace pursuit
