#pragma once
// Entries that rank 0 has and every rank gets its own of.

#include <vector>

#include "pursuit/base/ranks.hpp"
#include "pursuit/data/observed_matrix.hpp"

namespace pursuit {

/// Numbers that rank 0 has and all need, as many everywhere.
template <class Number>
void tell_all(Ranks& ranks, std::vector<Number>& numbers) {
  auto count = std::int64_t(numbers.size());
  ranks.broadcast(&count, sizeof count);
  numbers.resize(std::size_t(count));
  ranks.broadcast(numbers.data(), numbers.size() * sizeof(Number));
}

/// What a rank that follows has of them.
struct DealtEntries {
  GroupedEntries entries;  // of own groups, the groups of others being empty
  std::vector<float> weights;
};

/// Rank 0, which keeps all, returns nothing. `ends` has the first group of every rank and, last, the number
/// of groups; `weights` are as many as entries, or null. What rank 0 gives is null on the others.
DealtEntries deal_groups(Ranks& ranks, const GroupedEntries* all, const std::vector<float>* weights,
                         const std::vector<Index>& ends);

/// The way back: what every rank has of its own groups, for rank 0; others get nothing. `start` is of all
/// groups.
GroupedEntries gather_groups(Ranks& ranks, const GroupedEntries& own, const std::vector<std::int64_t>& start,
                             const std::vector<Index>& ends);

}  // namespace pursuit
