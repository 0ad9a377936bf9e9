#pragma once
// What a walk over groups of entries works with, from group to group.

#include "objective/entry_groups.hpp"
#include "objective/entry_loss.hpp"

namespace pursuit {

struct LossWalk {
  Index piece = 0;
  EntryGroups::Scratch scratch;
  EntryGroups::Group group{};
  AlignedVector<double> x, moved, slope, curvature;
  Matrix gram, weighted;
  Vector sums;

  void begin(const EntryGroups::Group& entries, double own, const Vector& others) {
    group = entries;
    const auto count = std::size_t(entries.count);
    x.resize(count);
    slope.resize(count);
    curvature.resize(count);
    for (Index e = 0; e < entries.count; ++e)
      x[std::size_t(e)] = own + others[entries.index ? entries.index[e] : e];
  }
  EntryRun run() const { return {group.count, group.y, x.data(), group.weight}; }
  EntryRun run_moved() const { return {group.count, group.y, moved.data(), group.weight}; }
};

}  // namespace pursuit
