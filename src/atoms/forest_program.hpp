#pragma once
// The most valuable vertices of a forest: at most k of them, in at most c connected components.
//
// For every vertex v and its subtree there are two tables over (components, vertices): the best value with v
// chosen, and the best value at all. Children are merged one by one, tables no larger than subtrees are, so
// that all merges together take O(n k c^2) steps.

#include "atoms/supports.hpp"

namespace pursuit {

/// Marks the choice. `neighbours` must be a forest on gains.size() vertices, gains not negative.
void best_in_forest(const std::vector<std::vector<Index>>& neighbours, ConstVectorRef gains, Index k, Index c,
                    Marks& kept);

}  // namespace pursuit
