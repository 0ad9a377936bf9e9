#include "completion/entry_tasks.hpp"

#include <algorithm>

namespace pursuit {
namespace {

constexpr Index kTaskWork = 1 << 12;  // at least, but for the last task
constexpr Index kMostTasks = 1024;

}  // namespace

EntryTasks::EntryTasks(const GroupedEntries& entries, const std::vector<float>* weights, MemberShares shares,
                       const std::vector<std::int64_t>* start)
    : entries_(&entries),
      weights_(weights),
      start_(start ? start : &entries.start),
      shares_(std::move(shares)) {
  const Index rows = shares_.last();
  Index first = shares_.first();
  const Index all = entries.start[rows] - entries.start[first] + kWorkOfAMember * (rows - first);
  const Index enough = std::max(kTaskWork, all / kMostTasks);
  std::vector<std::pair<Index, Rows>> tasks;
  Index work = 0;
  for (Index i = first; i < rows; ++i) {
    work += kWorkOfAMember;
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
