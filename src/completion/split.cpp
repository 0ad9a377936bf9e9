#include "pursuit/completion/split.hpp"

#include <algorithm>

#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr Index kMost = 30000;  // more would not make a choice any surer
constexpr Index kFewest = 50;   // fewer say nothing

/// Moves `count` random entries to the end and cuts them off.
ObservedEntries cut(ObservedEntries& entries, Index count, Random& random) {
  const Index n = entries.size();
  for (Index k = 0; k < count; ++k) {
    const Index from = random.below(n - k), to = n - 1 - k;
    std::swap(entries.row[from], entries.row[to]);
    std::swap(entries.col[from], entries.col[to]);
    std::swap(entries.value[from], entries.value[to]);
  }
  const auto tail = [&](auto& all) {
    typename std::decay_t<decltype(all)> part(all.end() - count, all.end());
    all.resize(std::size_t(n - count));
    return part;
  };
  return {entries.rows, entries.cols, tail(entries.row), tail(entries.col), tail(entries.value)};
}

}  // namespace

ObservedEntries hold_back(ObservedEntries& entries, double share, std::uint64_t seed) {
  const auto count = std::min(Index(share * double(entries.size())), kMost);
  if (count < kFewest) return {};
  Random random(seed);
  return cut(entries, count, random);
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

std::vector<Index> fold_sizes(Index count, int folds) {
  std::vector<Index> sizes;
  for (Index k = 0; k < folds; ++k) sizes.push_back((k + 1) * count / folds - k * count / folds);
  return sizes;
}

std::vector<ObservedEntries> split(ObservedEntries entries, const std::vector<Index>& sizes,
                                   std::uint64_t seed) {
  Random random(seed);
  std::vector<ObservedEntries> parts(sizes.size());
  for (std::size_t p = sizes.size(); p-- > 1;) parts[p] = cut(entries, sizes[p], random);
  parts[0] = std::move(entries);
  return parts;
}

}  // namespace pursuit
