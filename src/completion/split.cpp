#include "pursuit/completion/split.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "completion/random_order.hpp"

namespace pursuit {
namespace {

constexpr Index kMost = 30000;  // more would not make a choice any surer
constexpr Index kFewest = 50;   // fewer say nothing

constexpr Index kPerTask = 1 << 15, kMostOfTasks = 1 << 10;

/// That of entries in a list.
class RandomOrder {
 public:
  RandomOrder(const ObservedEntries& entries, std::uint64_t seed, int threads)
      : entries_(entries),
        keys_(seed),
        threads_(resolve_threads(threads)),
        per_task_(std::max(kPerTask, (entries.size() + kMostOfTasks - 1) / kMostOfTasks)) {}

  RandomBlock key(Index e) const { return keys_(entries_.row[e], entries_.col[e]); }

  Index tasks() const { return (entries_.size() + per_task_ - 1) / per_task_; }
  /// work(task, first, last) for every task, the entries of each being consecutive.
  template <class Work>
  void for_tasks(const Work& work) const {
    parallel_for(tasks(), threads_, [&](Index task) {
      work(task, task * per_task_, std::min(entries_.size(), (task + 1) * per_task_));
    });
  }

  /// The key that `count` entries come before.
  RandomBlock key_after(Index count) const {
    const auto for_keys = [&](Index task, const auto& use) {
      const Index last = std::min(entries_.size(), (task + 1) * per_task_);
      for (Index e = task * per_task_; e < last; ++e) use(key(e));
    };
    return pursuit::key_after(count, entries_.size(), tasks(), threads_, nullptr, for_keys);
  }

 private:
  const ObservedEntries& entries_;
  RandomKeys keys_;
  int threads_;
  Index per_task_;
};

}  // namespace

Index count_held_back(Index entries, double share) {
  const Index count = std::min(Index(share * double(entries)), kMost);
  return count < kFewest ? 0 : count;
}

ObservedEntries hold_back(ObservedEntries& entries, double share, std::uint64_t seed, int threads) {
  const Index count = count_held_back(entries.size(), share);
  if (count == 0) return {};
  const RandomOrder order(entries, seed, threads);
  const RandomBlock bound = order.key_after(count);
  std::vector<std::vector<Index>> found(std::size_t(order.tasks()));
  order.for_tasks([&](Index task, Index first, Index last) {
    for (Index e = first; e < last; ++e)
      if (order.key(e) < bound) found[task].push_back(e);
  });
  std::vector<Index> taken;
  for (const auto& of_task : found) taken.insert(taken.end(), of_task.begin(), of_task.end());
  ObservedEntries result{entries.rows, entries.cols, {}, {}, {}};
  const auto take = [&](auto& all, auto& part) {
    for (const Index e : taken) part.push_back(all[e]);
    std::size_t last = taken.size(), end = all.size();  // the last ones that stay fill the gaps
    for (std::size_t gap = 0; gap < last; ++gap) {
      while (last > gap && Index(end) - 1 == taken[last - 1]) --last, --end;
      if (gap < last) all[taken[gap]] = all[--end];
    }
    all.resize(all.size() - taken.size());
  };
  take(entries.row, result.row);
  take(entries.col, result.col);
  take(entries.value, result.value);
  return result;
}

void put_back(ObservedEntries& entries, const ObservedEntries& held_back) {
  const auto append = [](auto& all, const auto& part) {
    all.reserve(all.size() + part.size());  // and no more: entries are what memory is used for
    all.insert(all.end(), part.begin(), part.end());
  };
  append(entries.row, held_back.row);
  append(entries.col, held_back.col);
  append(entries.value, held_back.value);
}

void put_back(GroupedEntries& by_row, ObservedEntries held_back) {
  if (held_back.size() == 0) return;
  const GroupedEntries more = ObservedMatrix(std::move(held_back)).take_by_row();
  const GroupedEntries old = std::move(by_row);
  GroupedEntries both;
  both.start.reserve(old.start.size());
  both.index.reserve(old.index.size() + more.index.size());
  both.value.reserve(old.value.size() + more.value.size());
  const auto take = [&](const GroupedEntries& from, std::int64_t e) {
    both.index.push_back(from.index[std::size_t(e)]);
    both.value.push_back(from.value[std::size_t(e)]);
  };
  both.start.push_back(0);
  for (std::size_t i = 0; i + 1 < old.start.size(); ++i) {
    std::int64_t e = old.start[i];
    for (std::int64_t m = more.start[i]; m < more.start[i + 1]; ++m) {
      while (e < old.start[i + 1] && old.index[std::size_t(e)] < more.index[std::size_t(m)]) take(old, e++);
      take(more, m);
    }
    while (e < old.start[i + 1]) take(old, e++);
    both.start.push_back(std::int64_t(both.index.size()));
  }
  by_row = std::move(both);
}

std::vector<Index> fold_sizes(Index count, int folds) {
  std::vector<Index> sizes;
  for (Index k = 0; k < folds; ++k) sizes.push_back((k + 1) * count / folds - k * count / folds);
  return sizes;
}

std::vector<ObservedEntries> split(ObservedEntries entries, const std::vector<Index>& sizes,
                                   std::uint64_t seed, int threads) {
  const RandomOrder order(entries, seed, threads);
  std::vector<RandomBlock> bounds;  // of all parts but the last
  Index before = 0;
  for (std::size_t p = 0; p + 1 < sizes.size(); ++p) bounds.push_back(order.key_after(before += sizes[p]));
  const auto part_of = [&](Index e) {
    return std::size_t(std::upper_bound(bounds.begin(), bounds.end(), order.key(e)) - bounds.begin());
  };
  std::vector<std::vector<Index>> next(std::size_t(order.tasks()), std::vector<Index>(sizes.size(), 0));
  order.for_tasks([&](Index task, Index first, Index last) {
    for (Index e = first; e < last; ++e) ++next[task][part_of(e)];
  });
  std::vector<ObservedEntries> parts;
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    Index size = 0;
    for (auto& of_task : next) size += std::exchange(of_task[p], size);
    const auto room = std::size_t(size);
    parts.push_back({entries.rows, entries.cols, std::vector<int>(room), std::vector<int>(room),
                     std::vector<float>(room)});
  }
  order.for_tasks([&](Index task, Index first, Index last) {
    for (Index e = first; e < last; ++e) {
      const std::size_t p = part_of(e);
      const Index place = next[task][p]++;
      parts[p].row[place] = entries.row[e];
      parts[p].col[place] = entries.col[e];
      parts[p].value[place] = entries.value[e];
    }
  });
  return parts;
}

}  // namespace pursuit
