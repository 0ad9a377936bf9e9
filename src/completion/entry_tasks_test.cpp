#include "completion/entry_tasks.hpp"

#include <atomic>

#include "completion/test_support.hpp"

namespace pursuit {
namespace {

/// Rows with these numbers of entries.
GroupedEntries rows_of(const std::vector<Index>& counts) {
  GroupedEntries entries;
  entries.start.push_back(0);
  for (const Index count : counts) {
    for (Index j = 0; j < count; ++j) entries.index.push_back(int(j)), entries.value.push_back(float(j));
    entries.start.push_back(std::int64_t(entries.index.size()));
  }
  return entries;
}

TEST(EntryTasks, CoverEveryRowOnceAndLongRowsBySegmentsInOrder) {
  std::vector<Index> many(1000, 40);
  many[17] = 0, many[500] = 30000, many[999] = 4097;
  for (const std::vector<Index>& counts :
       {std::vector<Index>{}, {0}, {1}, {5000}, {0, 4096, 0}, {4097, 3, 12289}, many}) {
    const GroupedEntries entries = rows_of(counts);
    const EntryTasks tasks(entries);
    for (const int threads : {1, 3}) {
      std::vector<std::atomic<int>> times(counts.size()), seen(entries.index.size());
      tasks.share(
          threads,
          [&](Index number, const EntryTasks::Segment& segment) {
            const auto [first, last] = tasks.segments_of(segment.row);
            EXPECT_TRUE(tasks.is_long(segment.row) && first <= number && number < last);
            EXPECT_EQ(number == first, segment.first == entries.start[segment.row]);
            EXPECT_EQ(number + 1 == last, segment.last == entries.start[segment.row + 1]);
            for (std::int64_t e = segment.first; e < segment.last; ++e) ++seen[std::size_t(e)];
          },
          [&](Index first, Index last) {
            EXPECT_EQ(first % kSystems, 0);
            for (Index i = first; i < last; ++i) {
              ++times[std::size_t(i)];
              if (tasks.is_long(i)) continue;
              for (std::int64_t e = entries.start[i]; e < entries.start[i + 1]; ++e) ++seen[std::size_t(e)];
            }
          });
      for (const auto& count : times) EXPECT_EQ(count, 1);
      for (const auto& count : seen) EXPECT_EQ(count, 1);
    }
  }
}

}  // namespace
}  // namespace pursuit
