#include "pursuit/completion/split.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr Index kMost = 30000;  // more would not make a choice any surer
constexpr Index kFewest = 50;   // fewer say nothing

constexpr Index kPerTask = 1 << 15;
constexpr int kBinBits = 12;

/// All entries in a random order, in which the place of one depends on its position alone.
class RandomOrder {
 public:
  RandomOrder(const ObservedEntries& entries, std::uint64_t seed, int threads)
      : entries_(entries), seed_(Random(seed).stream(0).bits()), threads_(resolve_threads(threads)) {}

  RandomBlock key(Index e) const {
    return random_block(seed_, std::uint64_t(entries_.row[e]), std::uint64_t(entries_.col[e]));
  }

  Index tasks() const { return (entries_.size() + kPerTask - 1) / kPerTask; }
  /// work(task, first, last) for every task, the entries of each being consecutive.
  template <class Work>
  void for_tasks(const Work& work) const {
    parallel_for(tasks(), threads_, [&](Index task) {
      work(task, task * kPerTask, std::min(entries_.size(), (task + 1) * kPerTask));
    });
  }

  /// The key that `count` entries come before: the bin that holds it is found by counting.
  RandomBlock key_after(Index count) const {
    constexpr RandomBlock kAfterAll{~std::uint64_t(0), ~std::uint64_t(0)};
    if (count >= entries_.size()) return kAfterAll;
    const auto bin_of = [](RandomBlock key) { return std::size_t(key.first >> (64 - kBinBits)); };
    std::vector<std::vector<Index>> counts(std::size_t(tasks()), std::vector<Index>(1 << kBinBits, 0));
    for_tasks([&](Index task, Index first, Index last) {
      for (Index e = first; e < last; ++e) ++counts[task][bin_of(key(e))];
    });
    std::size_t bin = 0;
    for (;; ++bin) {
      Index inside = 0;
      for (const auto& of_task : counts) inside += of_task[bin];
      if (inside > count) break;
      count -= inside;
    }
    std::vector<std::vector<RandomBlock>> found(counts.size());
    for_tasks([&](Index task, Index first, Index last) {
      for (Index e = first; e < last && counts[task][bin] > 0; ++e)
        if (const RandomBlock each = key(e); bin_of(each) == bin) found[task].push_back(each);
    });
    std::vector<RandomBlock> keys;
    for (const auto& of_task : found) keys.insert(keys.end(), of_task.begin(), of_task.end());
    std::nth_element(keys.begin(), keys.begin() + count, keys.end());
    return keys[std::size_t(count)];
  }

 private:
  const ObservedEntries& entries_;
  std::uint64_t seed_;
  int threads_;
};

}  // namespace

ObservedEntries hold_back(ObservedEntries& entries, double share, std::uint64_t seed, int threads) {
  const Index n = entries.size(), count = std::min(Index(share * double(n)), kMost);
  if (count < kFewest) return {};
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
