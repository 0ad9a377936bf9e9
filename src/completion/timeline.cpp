#include "completion/timeline.hpp"

#include <algorithm>
#include <numeric>

#include "base/parallel.hpp"

namespace pursuit {

Timeline::Timeline(std::span<const int> member, Index members, std::span<const double> times, int threads)
    : times_(times), start_(std::size_t(members) + 1, 0), order_(member.size()), threads_(threads) {
  for (const int i : member) ++start_[std::size_t(i) + 1];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  std::vector<Index> next(start_.begin(), start_.end() - 1);
  for (std::size_t e = 0; e < member.size(); ++e)
    order_[std::size_t(next[std::size_t(member[e])]++)] = Index(e);
  parallel_for(members, threads_, [&](Index i) {
    std::stable_sort(order_.begin() + start_[std::size_t(i)], order_.begin() + start_[std::size_t(i) + 1],
                     [&](Index a, Index b) { return times_[std::size_t(a)] < times_[std::size_t(b)]; });
  });
}

template <class Visit>
void Timeline::for_knots(Index member, double reach, const Visit& visit) const {
  constexpr double kWidth = 0.25;  // of the reach
  const std::span<const Index> entries = entries_of(member);
  for (std::size_t first = 0, last = 0; first < entries.size(); first = last) {
    const double end = times_[std::size_t(entries[first])] + kWidth * reach;
    while (last < entries.size() && times_[std::size_t(entries[last])] <= end) ++last;
    visit(entries.subspan(first, last - first));
  }
}

DriftOf Timeline::drift(double reach, double ridge, std::span<const double> left,
                        std::span<const float> weights) const {
  DriftOf result;
  result.reach = reach;
  result.ridge = ridge;
  result.start.reserve(start_.size());
  result.start.push_back(0);
  for (Index i = 0; i + 1 < Index(start_.size()); ++i) {
    for_knots(i, reach, [&](std::span<const Index> knot) {
      double sum = 0, count = 0, time = 0;
      for (const Index e : knot) {
        const double weight = weights.empty() ? 1.0 : double(weights[std::size_t(e)]);
        sum += weight * left[std::size_t(e)];
        count += weight;
        time += times_[std::size_t(e)] - times_[std::size_t(knot[0])];
      }
      result.time.push_back(times_[std::size_t(knot[0])] + time / double(knot.size()));
      result.sum.push_back(float(sum));
      result.count.push_back(float(count));
    });
    result.start.push_back(std::int64_t(result.time.size()));
  }
  return result;
}

void Timeline::subtract(const DriftOf& drift, std::span<double> left) const {
  parallel_for(Index(start_.size()) - 1, threads_, [&](Index i) {
    std::int64_t k = drift.start[std::size_t(i)];
    for_knots(i, drift.reach, [&](std::span<const Index> knot) {
      const double value = drift.at(int(i), drift.time[std::size_t(k++)]);
      for (const Index e : knot) left[std::size_t(e)] -= value;
    });
  });
}

}  // namespace pursuit
