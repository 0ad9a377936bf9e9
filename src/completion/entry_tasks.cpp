#include "completion/entry_tasks.hpp"

#include <algorithm>

namespace pursuit {
namespace {

constexpr Index kOfARow = 16;         // what a row costs beside its entries, in entries
constexpr Index kTaskWork = 1 << 12;  // at least, but for the last task
constexpr Index kMostTasks = 1024;

}  // namespace

EntryTasks::EntryTasks(const GroupedEntries& entries, const std::vector<float>* weights)
    : entries_(&entries), weights_(weights) {
  const Index rows = entries.size(), all = Index(entries.index.size()) + kOfARow * rows;
  const Index enough = std::max(kTaskWork, all / kMostTasks);
  std::vector<std::pair<Index, Rows>> tasks;
  Index work = 0, first = 0;
  for (Index i = 0; i < rows; ++i) {
    work += kOfARow;
    if (is_long(i))
      for (std::int64_t e = entries.start[i]; e < entries.start[i + 1]; e += kSegment)
        segments_.push_back({i, e, std::min<std::int64_t>(e + kSegment, entries.start[i + 1])});
    else
      work += entries.count(i);
    const bool whole_systems = (i + 1) % kSystems == 0;
    if (i + 1 == rows || (whole_systems && work >= enough)) {
      tasks.push_back({work, {first, i + 1}});
      work = 0;
      first = i + 1;
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& task : tasks) tasks_.push_back(task.second);
}

std::pair<Index, Index> EntryTasks::segments_of(Index row) const {
  const auto [first, last] =
      std::equal_range(segments_.begin(), segments_.end(), Segment{row, 0, 0},
                       [](const Segment& a, const Segment& b) { return a.row < b.row; });
  return {first - segments_.begin(), last - segments_.begin()};
}

}  // namespace pursuit
