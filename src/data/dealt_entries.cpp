#include "data/dealt_entries.hpp"

#include <algorithm>

namespace pursuit {
namespace {

/// Of what rank 0 has, numbers ends[rank] to ends[rank + 1] - 1 to each rank.
template <class Number>
void deal_slices(Ranks& ranks, const std::vector<Number>* all, const std::vector<std::int64_t>& ends,
                 std::vector<Number>& own) {
  std::vector<Parcel> outgoing, incoming;
  outgoing.reserve(std::size_t(ranks.size()));
  for (int rank = 1; rank < ranks.size() && ranks.leads(); ++rank) {
    const std::int64_t first = ends[std::size_t(rank)], last = ends[std::size_t(rank) + 1];
    outgoing.push_back(
        {rank, const_cast<Number*>(all->data() + first), std::size_t(last - first) * sizeof(Number)});
  }
  if (!ranks.leads()) {
    own.resize(std::size_t(ends[std::size_t(ranks.rank()) + 1] - ends[std::size_t(ranks.rank())]));
    incoming.push_back({0, own.data(), own.size() * sizeof(Number)});
  }
  ranks.exchange(outgoing, incoming);
}

}  // namespace

DealtEntries deal_groups(Ranks& ranks, const GroupedEntries* all, const std::vector<float>* weights,
                         const std::vector<Index>& ends) {
  std::int64_t weighted = weights != nullptr;
  ranks.broadcast(&weighted, sizeof weighted);
  std::vector<std::int64_t> entry_ends;
  if (all) {
    entry_ends.reserve(ends.size());
    for (const Index group : ends) entry_ends.push_back(all->start[std::size_t(group)]);
  }
  tell_all(ranks, entry_ends);
  DealtEntries own;
  std::vector<std::int64_t> starts;
  deal_slices(ranks, all ? &all->start : nullptr, {ends.begin(), ends.end()}, starts);
  deal_slices(ranks, all ? &all->index : nullptr, entry_ends, own.entries.index);
  deal_slices(ranks, all ? &all->value : nullptr, entry_ends, own.entries.value);
  if (weighted != 0) deal_slices(ranks, weights, entry_ends, own.weights);
  if (ranks.leads()) return {};
  const auto first = std::size_t(ends[std::size_t(ranks.rank())]);
  auto& start = own.entries.start;
  start.assign(std::size_t(ends.back()) + 1, std::int64_t(own.entries.index.size()));
  std::fill_n(start.begin(), first, 0);
  for (std::size_t i = 0; i < starts.size(); ++i) start[first + i] = starts[i] - starts.front();
  return own;
}

GroupedEntries gather_groups(Ranks& ranks, const GroupedEntries& own, const std::vector<std::int64_t>& start,
                             const std::vector<Index>& ends) {
  GroupedEntries all;
  if (ranks.leads()) {
    all.start = start;
    all.index.resize(std::size_t(start.back()));
    all.value.resize(std::size_t(start.back()));
  }
  std::vector<Parcel> outgoing, incoming;
  const auto collect = [&]<class Number>(const std::vector<Number>& mine, std::vector<Number>& into) {
    outgoing.push_back({0, const_cast<Number*>(mine.data()), mine.size() * sizeof(Number)});
    for (std::size_t rank = 0; rank + 1 < ends.size() && ranks.leads(); ++rank) {
      const std::int64_t first = start[std::size_t(ends[rank])], last = start[std::size_t(ends[rank + 1])];
      incoming.push_back({int(rank), into.data() + first, std::size_t(last - first) * sizeof(Number)});
    }
  };
  collect(own.index, all.index);
  collect(own.value, all.value);
  ranks.exchange(outgoing, incoming);
  return all;
}

}  // namespace pursuit
