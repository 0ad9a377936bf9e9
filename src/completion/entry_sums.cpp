#include "completion/entry_sums.hpp"

#include <algorithm>

#include "base/kernel.hpp"

namespace pursuit {
namespace {

typedef float Eight __attribute__((vector_size(32), may_alias));
typedef float Sixteen __attribute__((vector_size(64), may_alias));

constexpr Index kRowsAhead = 12;  // entries ahead whose rows are asked for: they lie anywhere in memory

/// Some entries of one row.
struct EntryRange {
  const int* index;
  const float* value;  // or null
  Index count, known;  // of these the indices may be read: the row's own and those of the next ones
};

/// kVecs vectors of the sum, in two chains of additions, so that none waits for the other.
template <class Vec, int kVecs>
[[gnu::always_inline]] inline void sum_vectors(const EntryRange& s, const float* table, Index width,
                                               float* sum) {
  constexpr int kLanes = sizeof(Vec) / sizeof(float);
  const auto row = [&](Index e) { return reinterpret_cast<const Vec*>(table + s.index[e] * width); };
  Vec even[kVecs] = {}, odd[kVecs] = {};
  const auto add = [&](Vec* into, Index e) {
    const Vec* x = row(e);
    for (int v = 0; v < kVecs; ++v) into[v] += s.value ? s.value[e] * x[v] : x[v];
  };
  Index e = 0;
  for (; e + 1 < s.count; e += 2) {
    for (const Index next : {e + kRowsAhead, e + kRowsAhead + 1})
      for (int v = 0; v < kVecs; ++v) __builtin_prefetch(row(std::min(next, s.known - 1)) + v);
    add(even, e);
    add(odd, e + 1);
  }
  if (e < s.count) add(even, e);
  for (int v = 0; v < kVecs; ++v) *reinterpret_cast<Vec*>(sum + v * kLanes) = even[v] + odd[v];
}

PURSUIT_KERNEL void sum_range(const EntryRange& s, const float* table, Index width, float* sum) {
  Index c = 0;
  if (width % 16 == 0)
    for (; c + 32 <= width; c += 32) sum_vectors<Sixteen, 2>(s, table + c, width, sum + c);
  if (width % 16 == 0 && c < width) sum_vectors<Sixteen, 1>(s, table + c, width, sum + c), c += 16;
  for (; c < width; c += 8) sum_vectors<Eight, 1>(s, table + c, width, sum + c);
}

}  // namespace

void sum_over_entries(const EntryTasks& rows, std::span<const float> table, int width, bool times_values,
                      int threads, SharedNumbers<float>& sums, const std::function<bool()>& stop) {
  const GroupedEntries& entries = rows.entries();
  sums.resize(std::size_t(rows.size() * width));
  AlignedVector<float> parts(std::size_t(rows.segments() * width));
  const auto sum = [&](std::int64_t first, std::int64_t last, float* out) {
    const EntryRange range{entries.index.data() + first,
                           times_values ? entries.value.data() + first : nullptr, last - first,
                           Index(entries.index.size()) - first};
    sum_range(range, table.data(), width, out);
  };
  rows.share(
      threads,
      [&](Index number, const EntryTasks::Segment& segment) {
        if (stop && stop()) return;
        sum(segment.first, segment.last, &parts[std::size_t(number * width)]);
      },
      [&](Index first, Index last) {
        if (stop && stop()) return;
        for (Index i = first; i < last; ++i) {
          float* out = &sums[std::size_t(i * width)];
          if (!rows.is_long(i)) {
            sum(entries.start[i], entries.start[i + 1], out);
            continue;
          }
          std::fill_n(out, width, 0.0F);
          const auto [from, to] = rows.segments_of(i);
          for (Index s = from; s < to; ++s)
            for (int c = 0; c < width; ++c) out[c] += parts[std::size_t(s * width + c)];
        }
      });
}

}  // namespace pursuit
