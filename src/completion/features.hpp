#pragma once
// The features of the members of a side.

#include <memory>
#include <vector>

#include "completion/entry_tasks.hpp"

namespace pursuit {

/// In both orders. Values are those of the entries or, where scale is given, scale[member] whatever the
/// entry.
struct Features {
  std::shared_ptr<const EntryTasks> by_feature, by_member;
  std::vector<float> scale;

  bool has_values() const { return scale.empty(); }
  /// Of entry e in the order of features.
  float value(std::int64_t e) const {
    const GroupedEntries& entries = by_feature->entries();
    return has_values() ? entries.value[e] : scale[entries.index[e]];
  }
};

}  // namespace pursuit
