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

  /// The linear predictors are `own` and what the places of an entry add, of all modes but one.
  void begin(const EntryGroups::Group& entries, double own, const std::vector<const double*>& offsets) {
    group = entries;
    const auto count = std::size_t(entries.count);
    x.assign(count, own);
    slope.resize(count);
    curvature.resize(count);
    if (offsets[0])
      for (std::size_t e = 0; e < count; ++e) x[e] += offsets[0][entries.index ? entries.index[e] : Index(e)];
    for (std::size_t m = 1; m < offsets.size(); ++m)
      if (offsets[m])
        for (std::size_t e = 0; e < count; ++e) x[e] += offsets[m][entries.further[m - 1][e]];
  }
  EntryRun run() const { return {group.count, group.y, x.data(), group.weight}; }
  EntryRun run_moved() const { return {group.count, group.y, moved.data(), group.weight}; }
};

}  // namespace pursuit
