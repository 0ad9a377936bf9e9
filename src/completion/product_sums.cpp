#include "completion/product_sums.hpp"

#include <algorithm>
#include <utility>

#include "base/kernel.hpp"

namespace pursuit {
namespace {

typedef float EightFloats __attribute__((vector_size(32), may_alias));

/// The sum and the sum of squares, over some entries, of the products of `row` with rows of `table`; both
/// have `width` numbers, a multiple of eight.
PURSUIT_KERNEL ProductSums products_of(const int* index, Index count, const float* row, const float* table,
                                       Index width) {
  constexpr Index kNextRows = 12;  // rows lie anywhere in memory
  double first = 0, squares = 0;
  for (Index e = 0; e < count; ++e) {
    const float* ahead = table + index[std::min(e + kNextRows, count - 1)] * width;
    const float* other = table + index[e] * width;
    EightFloats sums = {};
    for (Index c = 0; c < width; c += 8) {
      __builtin_prefetch(ahead + c);
      sums +=
          *reinterpret_cast<const EightFloats*>(row + c) * *reinterpret_cast<const EightFloats*>(other + c);
    }
    const double product = ((double(sums[0]) + sums[4]) + (double(sums[1]) + sums[5])) +
                           ((double(sums[2]) + sums[6]) + (double(sums[3]) + sums[7]));
    first += product;
    squares += product * product;
  }
  return {first, squares};
}

}  // namespace

std::vector<ProductSums> product_sums(const EntryTasks& entries, Ranks* ranks, SharedNumbers<float> own,
                                      SharedNumbers<float> others, int width, int threads) {
  constexpr int kOwn = 1000, kOthers = 1001;  // no tables of sweeps have these numbers
  if (ranks) {
    ranks->broadcast(&width, sizeof width);
    std::size_t sizes[] = {own.size(), others.size()};
    ranks->broadcast(sizes, sizeof sizes);
    own.share_from_leader(*ranks, kOwn, sizes[0]);
    others.share_from_leader(*ranks, kOthers, sizes[1]);
  }
  const GroupedEntries& groups = entries.entries();
  const MemberShares& shares = entries.shares();
  std::vector<ProductSums> sums(static_cast<std::size_t>(entries.size()));
  shares.for_own(threads, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      sums[std::size_t(i)] = products_of(groups.index.data() + groups.start[std::size_t(i)], entries.count(i),
                                         own.data() + i * width, others.data(), width);
  });
  if (ranks) shares.collect({{sums.data(), 1}});
  return sums;
}

}  // namespace pursuit
