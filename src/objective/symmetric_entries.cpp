#include <algorithm>
#include <tuple>
#include <utility>

#include "objective/listed_tensor.hpp"

namespace pursuit {
namespace {

/// The modes of every panel that has more than one.
std::vector<std::vector<std::size_t>> shared_modes(const std::vector<Index>& panel_of_mode) {
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t mode = 0; mode < panel_of_mode.size(); ++mode) {
    std::vector<std::size_t> modes;
    for (std::size_t other = 0; other < panel_of_mode.size(); ++other)
      if (panel_of_mode[other] == panel_of_mode[mode]) modes.push_back(other);
    if (modes.size() > 1 && modes[0] == mode) result.push_back(std::move(modes));
  }
  return result;
}

/// A place in all orders of its indices along modes that share factors.
std::vector<std::vector<int>> orders_of(const std::vector<int>& place,
                                        const std::vector<std::vector<std::size_t>>& shared) {
  std::vector<std::vector<int>> orders{place};
  for (const std::vector<std::size_t>& modes : shared) {
    std::vector<int> indices;
    indices.reserve(modes.size());
    for (const std::size_t mode : modes) indices.push_back(place[mode]);
    std::sort(indices.begin(), indices.end());
    std::vector<std::vector<int>> more;
    do {
      for (std::vector<int> each : orders) {
        for (std::size_t m = 0; m < modes.size(); ++m) each[modes[m]] = indices[m];
        more.push_back(std::move(each));
      }
    } while (std::next_permutation(indices.begin(), indices.end()));
    orders = std::move(more);
  }
  return orders;
}

}  // namespace

ObservedTensor in_all_orders(const ObservedTensor& data, const std::vector<Index>& panel_of_mode,
                             const Loss& loss) {
  const auto shared = shared_modes(panel_of_mode);
  if (shared.empty()) return data;
  struct Copy {
    std::vector<int> place;
    double value, weight, orders;
  };
  std::vector<Copy> copies;
  for (std::size_t e = 0; e < data.entries.value.size(); ++e) {
    std::vector<int> place;
    place.reserve(data.entries.index.size());
    for (const std::vector<int>& index : data.entries.index) place.push_back(index[e]);
    const auto orders = orders_of(place, shared);
    for (const std::vector<int>& each : orders)
      copies.push_back(
          {each, data.entries.value[e], data.weights.empty() ? 1.0 : data.weights[e], double(orders.size())});
  }
  std::sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
    return std::tie(a.place, a.value) < std::tie(b.place, b.value);
  });
  ObservedTensor result{{data.entries.shape, std::vector<std::vector<int>>(data.entries.index.size()), {}},
                        {},
                        data.others_are_zero};
  bool once = true;  // whether every entry counts once
  for (std::size_t first = 0, next = 0; first < copies.size(); first = next) {
    double weight = 0;
    for (; next < copies.size() && copies[next].place == copies[first].place &&
           copies[next].value == copies[first].value;
         ++next)
      weight += copies[next].weight;
    for (std::size_t m = 0; m < result.entries.index.size(); ++m)
      result.entries.index[m].push_back(copies[first].place[m]);
    result.entries.value.push_back(copies[first].value);
    result.weights.push_back(weight / copies[first].orders);
    once = once && result.weights.back() == 1;
  }
  if (once) result.weights.clear();
  if (data.others_are_zero && !once) return in_all_orders(with_zeros(data, loss), panel_of_mode, loss);
  return result;
}

}  // namespace pursuit
