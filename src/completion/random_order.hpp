#pragma once
// All entries in a random order, in which the place of one depends on its position alone: not on where it
// stands in a list, nor on which rank has it.

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/base/ranks.hpp"

namespace pursuit {

/// What entries are ordered by.
class RandomKeys {
 public:
  explicit RandomKeys(std::uint64_t seed) : seed_(Random(seed).stream(0).bits()) {}
  RandomBlock operator()(int row, int col) const {
    return random_block(seed_, std::uint64_t(row), std::uint64_t(col));
  }

 private:
  std::uint64_t seed_;
};

/// The key that `count` of `all` entries come before: the bin that holds it is found by counting.
/// for_keys(task, use) calls use(key) for the entries of one of so many tasks. Where there are ranks each has
/// some of the entries, and all call it.
template <class ForKeys>
RandomBlock key_after(Index count, Index all, Index tasks, int threads, Ranks* ranks,
                      const ForKeys& for_keys) {
  constexpr RandomBlock kAfterAll{~std::uint64_t(0), ~std::uint64_t(0)};
  constexpr int kBinBits = 12;
  if (count >= all) return kAfterAll;
  const auto bin_of = [](RandomBlock key) { return std::size_t(key.first >> (64 - kBinBits)); };
  std::vector<std::vector<std::int64_t>> counts(std::size_t(tasks),
                                                std::vector<std::int64_t>(1 << kBinBits, 0));
  parallel_for(tasks, threads, [&](Index task) {
    for_keys(task, [&](RandomBlock key) { ++counts[std::size_t(task)][bin_of(key)]; });
  });
  std::vector<std::int64_t> inside(1 << kBinBits, 0);
  for (const auto& of_task : counts)
    for (std::size_t bin = 0; bin < inside.size(); ++bin) inside[bin] += of_task[bin];
  if (ranks) add_up(*ranks, inside);
  std::size_t bin = 0;
  for (; inside[bin] <= count; ++bin) count -= inside[bin];
  std::vector<std::vector<RandomBlock>> found(counts.size());
  parallel_for(tasks, threads, [&](Index task) {
    if (counts[std::size_t(task)][bin] == 0) return;
    for_keys(task, [&](RandomBlock key) {
      if (bin_of(key) == bin) found[std::size_t(task)].push_back(key);
    });
  });
  std::vector<RandomBlock> keys;
  for (const auto& of_task : found) keys.insert(keys.end(), of_task.begin(), of_task.end());
  if (ranks) keys = gather_lists(*ranks, keys);
  std::nth_element(keys.begin(), keys.begin() + count, keys.end());
  return keys[std::size_t(count)];
}

}  // namespace pursuit
