#include "completion/feature_blocks.hpp"

#include <algorithm>
#include <cmath>

#include "base/chunks.hpp"
#include "base/kernel.hpp"
#include "base/steps.hpp"

namespace pursuit {
namespace {

// All threads take microseconds to begin a step together, and the draws inside a block are the work of few: a
// block has as many products of its features as take about as long.
constexpr Index kProducts = 8192;
constexpr Index kMostFeatures = 1024;
constexpr Index kFewestRanges = 4, kMostRanges = 16;
constexpr Index kRunLength = 4;         // entries, on average
constexpr Index kWorthARange = 4096;    // entries
constexpr Index kMostMembers = 0xffff;  // of a range, so that places and counts are two bytes
constexpr Index kPieceOfSums = 8;       // features whose parts are added up by one thread

typedef float Eight __attribute__((vector_size(32), may_alias));
typedef float Sixteen __attribute__((vector_size(64), may_alias));

/// A cell, as loops see it.
struct CellEntries {
  std::span<const FeatureRun> runs;
  std::span<const std::uint16_t> members;
  const float* values;  // per entry, or null
  const float* scale;   // per member of the range, where values are null
  Index width;

  template <class Vec>
  [[gnu::always_inline]] const Vec* row(const float* deviation, Index e) const {
    return reinterpret_cast<const Vec*>(deviation + Index(members[std::size_t(e)]) * width);
  }
  [[gnu::always_inline]] float value(Index e) const {
    return values ? values[e] : scale[members[std::size_t(e)]];
  }
};

/// Coordinates as many vectors as `deviation` and `sums` begin with.
template <class Vec, int kVecs>
[[gnu::always_inline]] inline void sum_vectors_of_runs(const CellEntries& s, Index features,
                                                       const float* deviation, float* sums) {
  const auto out = [&](Index f) { return reinterpret_cast<Vec*>(sums + f * s.width); };
  Index e = 0, next = 0;
  const auto skip_to = [&](Index f) {
    for (; next < f; ++next)
      for (int v = 0; v < kVecs; ++v) out(next)[v] = Vec{};
  };
  for (const FeatureRun& run : s.runs) {
    skip_to(run.feature);
    Vec even[kVecs] = {}, odd[kVecs] = {};
    const auto add = [&](Vec* into, Index entry) {
      const Vec* d = s.row<Vec>(deviation, entry);
      for (int v = 0; v < kVecs; ++v) into[v] += s.value(entry) * d[v];
    };
    const Index end = e + run.count;
    for (; e + 1 < end; e += 2) {
      add(even, e);
      add(odd, e + 1);
    }
    if (e < end) add(even, e++);
    for (int v = 0; v < kVecs; ++v) out(next)[v] = even[v] + odd[v];
    ++next;
  }
  skip_to(features);
}

template <class Vec, int kVecs>
[[gnu::always_inline]] inline void subtract_vectors_of_runs(const CellEntries& s, const float* change,
                                                            float* deviation) {
  Index e = 0;
  for (const FeatureRun& run : s.runs) {
    const Vec* of_feature = reinterpret_cast<const Vec*>(change + run.feature * s.width);
    Vec by[kVecs];
    for (int v = 0; v < kVecs; ++v) by[v] = of_feature[v];
    for (const Index end = e + run.count; e < end; ++e) {
      Vec* d = const_cast<Vec*>(s.row<Vec>(deviation, e));
      for (int v = 0; v < kVecs; ++v) d[v] -= s.value(e) * by[v];
    }
  }
}

/// Inner products of the features of a block with the deviations of one range, a row for each.
PURSUIT_KERNEL void sum_runs(const CellEntries& s, Index features, const float* deviation, float* sums) {
  Index c = 0;
  if (s.width % 16 == 0) {
    for (; c + 32 <= s.width; c += 32) sum_vectors_of_runs<Sixteen, 2>(s, features, deviation + c, sums + c);
    if (c < s.width) sum_vectors_of_runs<Sixteen, 1>(s, features, deviation + c, sums + c);
  } else {
    for (; c < s.width; c += 8) sum_vectors_of_runs<Eight, 1>(s, features, deviation + c, sums + c);
  }
}

/// Deviations of one range less what changes of weights say.
PURSUIT_KERNEL void subtract_runs(const CellEntries& s, const float* change, float* deviation) {
  Index c = 0;
  if (s.width % 16 == 0) {
    for (; c + 32 <= s.width; c += 32) subtract_vectors_of_runs<Sixteen, 2>(s, change + c, deviation + c);
    if (c < s.width) subtract_vectors_of_runs<Sixteen, 1>(s, change + c, deviation + c);
  } else {
    for (; c < s.width; c += 8) subtract_vectors_of_runs<Eight, 1>(s, change + c, deviation + c);
  }
}

/// What draws of some features begin with, of rows of `width`: inner products with the deviations, the own
/// weight left out, from those of the ranges, and what the draw differs by from its mean.
struct Preparation {
  Index features, width, ranges, distance;  // between the sums of ranges
  const float* squared_norm;
  const float *tau, *ratio;
  const float *normal, *weights, *first_sums;
  float *sums, *noise;
};

PURSUIT_KERNEL void prepare(const Preparation& s) {
  const Index count = s.features * s.width;
  for (Index t = 0; t < count; ++t) s.sums[t] = s.first_sums[t];
  for (Index r = 1; r < s.ranges; ++r)
    for (Index t = 0; t < count; ++t) s.sums[t] += s.first_sums[r * s.distance + t];
  for (Index f = 0, t = 0; f < s.features; ++f)
    for (Index c = 0; c < s.width; ++c, ++t) {
      const float norm = s.squared_norm[f];
      s.sums[t] += norm * s.weights[t];
      s.noise[t] = std::sqrt(s.tau[c] / (norm + s.ratio[c])) * s.normal[t];
    }
}

/// Some coordinates of a block, as many as Vec has lanes. Rows are of `width`.
struct BlockDraw {
  Index features, width;
  const std::int32_t* start;
  const std::uint16_t* earlier;
  const float* product;
  const float* squared_norm;
  const float* ratio;  // of the coordinates
  const float *sums, *noise;
  float *weights, *change;
};

template <class Vec>
[[gnu::always_inline]] inline void draw_lanes(const BlockDraw& s) {
  constexpr int kChains = 4;  // of sums that do not wait for each other
  const auto in = [&](const float* rows, Index f) -> const Vec& {
    return *reinterpret_cast<const Vec*>(rows + f * s.width);
  };
  // NOLINTNEXTLINE(readability-non-const-parameter): what is returned can be written to
  const auto out = [&](float* rows, Index f) -> Vec& { return *reinterpret_cast<Vec*>(rows + f * s.width); };
  const Vec ratio = in(s.ratio, 0);
  for (Index f = 0; f < s.features; ++f) {
    const float norm = s.squared_norm[f];
    if (!(norm > 0)) {
      out(s.change, f) = Vec{};
      continue;
    }
    Vec left[kChains] = {in(s.sums, f)};
    std::int32_t t = s.start[f];
    const auto take_off = [&](Vec& from, std::int32_t at) {
      from -= s.product[at] * in(s.change, s.earlier[at]);
    };
    for (; t + kChains <= s.start[f + 1]; t += kChains)
      for (int k = 0; k < kChains; ++k) take_off(left[k], t + k);
    for (int k = 0; t < s.start[f + 1]; ++t, ++k) take_off(left[k], t);
    const Vec fresh = ((left[0] + left[1]) + (left[2] + left[3])) / (norm + ratio) + in(s.noise, f);
    out(s.change, f) = fresh - in(s.weights, f);
    out(s.weights, f) = fresh;
  }
}

PURSUIT_KERNEL void draw_block(const BlockDraw& s, bool wide) {
  if (wide)
    draw_lanes<Sixteen>(s);
  else
    draw_lanes<Eight>(s);
}

}  // namespace

FeatureBlocks::FeatureBlocks(const Features& features, int threads) : features_(features) {
  cut_members();
  cut_features();
  parallel_for(blocks(), threads, [&](Index b) {
    fill(blocks_[std::size_t(b)]);
    find_products(blocks_[std::size_t(b)]);
  });
}

void FeatureBlocks::cut_members() {
  const GroupedEntries& entries = features_.by_member->entries();
  const auto all = Index(entries.index.size());
  const Index of_runs = all / (kRunLength * std::max<Index>(features_.by_feature->size(), 1));
  const Index most = std::min(all / kWorthARange, std::clamp(of_runs, kFewestRanges, kMostRanges));
  const Index enough = all / std::max<Index>(most, 1);
  range_ = {0};
  for (Index i = 1; i < entries.size(); ++i) {
    const Index before = entries.start[i] - entries.start[range_.back()];
    if ((before >= enough && entries.start[i] < all) || i - range_.back() == kMostMembers)
      range_.push_back(i);
  }
  range_.push_back(entries.size());
}

/// A block ends where its features would have too many products: no more than pairs of features, and no more
/// than pairs of entries of the same member.
void FeatureBlocks::cut_features() {
  const GroupedEntries& entries = features_.by_feature->entries();
  struct Seen {
    Index in_block = -1;
    Index count = 0;
  };
  std::vector<Seen> members(std::size_t(features_.by_member->size()));
  const auto member = [&](std::int64_t e) -> Seen& { return members[std::size_t(entries.index[e])]; };
  Index pairs = 0;
  for (Index f = 0; f < entries.size(); ++f) {
    Index fresh = 0;
    for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e)
      if (member(e).in_block == blocks() - 1) fresh += member(e).count;
    const Index size = blocks_.empty() ? kMostFeatures : blocks_.back().size();
    if (size == kMostFeatures || std::min(pairs + fresh, size * (size + 1) / 2) > kProducts) {
      blocks_.push_back({f, f, {}, {}, {}, {}});
      pairs = fresh = 0;
    }
    pairs += fresh;
    blocks_.back().last = f + 1;
    largest_ = std::max(largest_, blocks_.back().size());
    for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e) {
      Seen& seen = member(e);
      seen = {blocks() - 1, seen.in_block == blocks() - 1 ? seen.count + 1 : 1};
    }
  }
}

void FeatureBlocks::fill(Block& block) const {
  const GroupedEntries& entries = features_.by_feature->entries();
  const auto for_runs = [&](const auto& work) {
    for (Index f = block.first; f < block.last; ++f)
      for (auto e = entries.index.begin() + entries.start[f],
                end = entries.index.begin() + entries.start[f + 1];
           e < end;) {
        const auto next = std::upper_bound(range_.begin(), range_.end(), Index(*e));
        const auto stop = std::lower_bound(e, end, *next);
        work(std::size_t(next - range_.begin() - 1), f, e - entries.index.begin(), stop - e);
        e = stop;
      }
  };
  block.cells.resize(std::size_t(ranges()));
  struct Size {
    std::size_t runs = 0, entries = 0;
  };
  std::vector<Size> sizes(block.cells.size());
  for_runs([&](std::size_t r, Index, std::int64_t, std::int64_t count) {
    ++sizes[r].runs;
    sizes[r].entries += std::size_t(count);
  });
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    block.cells[r].runs.reserve(sizes[r].runs);
    block.cells[r].members.reserve(sizes[r].entries);
    if (features_.has_values()) block.cells[r].values.reserve(sizes[r].entries);
  }
  for_runs([&](std::size_t r, Index f, std::int64_t first, std::int64_t count) {
    Cell& cell = block.cells[r];
    cell.runs.push_back({std::uint16_t(f - block.first), std::uint16_t(count)});
    for (std::int64_t e = first; e < first + count; ++e) {
      cell.members.push_back(std::uint16_t(entries.index[e] - range_[r]));
      if (features_.has_values()) cell.values.push_back(entries.value[e]);
    }
  });
}

void FeatureBlocks::find_products(Block& block) const {
  const auto size = std::size_t(block.size());
  std::vector<float> products(size * size, 0.0F);
  for (std::size_t r = 0; r < block.cells.size(); ++r) {
    const Cell& cell = block.cells[r];
    std::vector<std::uint16_t> feature;
    feature.reserve(cell.members.size());
    for (const FeatureRun& run : cell.runs) feature.insert(feature.end(), run.count, run.feature);
    std::vector<std::uint64_t> by_member;  // the member and the number of the entry
    by_member.reserve(cell.members.size());
    for (std::size_t e = 0; e < cell.members.size(); ++e)
      by_member.push_back(std::uint64_t(cell.members[e]) << 32 | e);
    std::sort(by_member.begin(), by_member.end());
    const auto value = [&](std::size_t e) {
      return features_.has_values() ? cell.values[e] : features_.scale[range_[r] + cell.members[e]];
    };
    for (std::size_t k = 0; k < by_member.size(); ++k) {
      const auto e = std::uint32_t(by_member[k]);
      for (std::size_t l = k; l-- > 0 && by_member[l] >> 32 == by_member[k] >> 32;) {
        const auto before = std::uint32_t(by_member[l]);
        products[feature[e] * size + feature[before]] += value(e) * value(before);
      }
    }
  }
  block.start = {0};
  for (std::size_t f = 0; f < size; ++f) {
    for (std::size_t g = 0; g < f; ++g)
      if (const float product = products[f * size + g]; product != 0) {
        block.earlier.push_back(std::uint16_t(g));
        block.product.push_back(product);
      }
    block.start.push_back(std::int32_t(block.product.size()));
  }
  block.earlier.shrink_to_fit();
  block.product.shrink_to_fit();
}

std::vector<double> FeatureBlocks::draw(const Draw& draw, int threads) const {
  const Index width = draw.width, size = largest_ * width;
  draw.room.resize(std::max(draw.room.size(), std::size_t((ranges() + 3) * size)));
  float *parts = draw.room.data(), *sums = parts + ranges() * size, *noise = sums + size,
        *change = noise + size;
  const bool wide = width % 16 == 0;
  const Index lanes = wide ? 16 : 8;
  const auto block = [&](Index b) -> const Block& { return blocks_[std::size_t(b)]; };
  const auto cell = [&](Index b, Index r) {
    const Cell& of_range = block(b).cells[std::size_t(r)];
    const bool has_values = features_.has_values();
    return CellEntries{of_range.runs, of_range.members, has_values ? of_range.values.data() : nullptr,
                       has_values ? nullptr : features_.scale.data() + range_[std::size_t(r)], width};
  };
  // Of every block three steps: sums of ranges, which follow the draws of the block before, their sum, draws.
  // The last are the work of few threads, and what can be done before is.
  enum { of_ranges, in_all, drawn, kinds };
  const auto pieces = [&](Index step) {
    if (step % kinds == of_ranges) return ranges();
    if (step % kinds == in_all) return (block(step / kinds).size() + kPieceOfSums - 1) / kPieceOfSums;
    return width / lanes;
  };
  parallel_steps(kinds * blocks() + 1, threads, pieces, [&](Index step, Index piece) {
    const Index b = step / kinds;
    if (step % kinds == of_ranges) {
      float* deviation = draw.deviation.data() + range_[std::size_t(piece)] * width;
      if (b > 0) subtract_runs(cell(b - 1, piece), change, deviation);
      if (b < blocks()) sum_runs(cell(b, piece), block(b).size(), deviation, parts + piece * size);
    } else if (step % kinds == in_all) {
      const Index first = piece * kPieceOfSums, at = first * width, f = block(b).first + first;
      prepare({std::min(kPieceOfSums, block(b).size() - first), width, ranges(), size,
               draw.squared_norm.data() + f, draw.tau.data(), draw.ratio.data(),
               draw.normal.data() + f * width, draw.weights.data() + f * width, parts + at, sums + at,
               noise + at});
    } else {
      const Index c = piece * lanes;
      draw_block({block(b).size(), width, block(b).start.data(), block(b).earlier.data(),
                  block(b).product.data(), draw.squared_norm.data() + block(b).first, draw.ratio.data() + c,
                  sums + c, noise + c, draw.weights.data() + block(b).first * width + c, change + c},
                 wide);
    }
  });
  const Vector squares =
      chunked_sum<Vector>(Chunks(Index(draw.squared_norm.size())), threads, [&](Index first, Index count) {
        Vector sum = Vector::Zero(width);
        for (Index f = first; f < first + count; ++f)
          if (draw.squared_norm[std::size_t(f)] > 0)
            for (Index c = 0; c < width; ++c) {
              const double weight = draw.weights[std::size_t(f * width + c)];
              sum[c] += weight * weight;
            }
        return sum;
      });
  return {squares.begin(), squares.end()};
}

}  // namespace pursuit
