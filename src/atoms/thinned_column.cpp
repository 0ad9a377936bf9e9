#include "atoms/thinned_column.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "atoms/largest_sizes.hpp"
#include "atoms/uniform_fit.hpp"

namespace pursuit {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// SizeKeys of a whole column, of which its blocks and its sample are known.
class ThinnedKeys final : public KeySource {
 public:
  ThinnedKeys(Index n, const Vector& sample, double bound, ConstVectorRef entries, bool floored)
      : n_(n), bound_(bound), sampling_(n), sample_(sample, floored), entries_(entries, floored) {}
  Index size() const override { return n_; }
  void copy(Index first, Index count, double* keys) const override {
    sample_.copy(sampling_.before(first), count, keys);
  }
  Gathered gather(double lo, double hi, double* keys, int* places) override {
    finite = lo >= bound_;  // other keys are not here
    if (!finite) return {0, 0};
    const Gathered found = entries_.gather(lo, hi, keys, places);
    finite = entries_.finite;
    squares_above = entries_.squares_above;
    return found;
  }

  bool finite = true;
  double squares_above = 0;

 private:
  Index n_;
  double bound_;
  Sampling sampling_;
  passes::SizeKeys sample_, entries_;
};

bool keep_largest(ThinnedKeys keys, ConstVectorRef g, const SparseFit& fit, VectorRef u) {
  LargestSizes kept = largest_sizes(keys, fit.most);
  if (!kept.finite || !squares_safely(std::sqrt(kept.squares))) return false;
  kept.top.ties_end = std::min(kept.top.ties_end, g.size());
  passes::keep_sizes(g, kept.top, fit.nonnegative, 1 / std::sqrt(kept.squares), u);
  return true;
}

}  // namespace

std::optional<SparseFit> sparse_fit(const AtomSet& set, Sign sign, Index n) {
  constexpr Index kShare = 16;  // of the entries
  const auto& simple = set.traits().simple;
  if (!simple || !simple->sparsity || n <= kKeysWithoutSample || simple->max_nonzeros(n) * kShare > n)
    return std::nullopt;
  return SparseFit{simple->nonnegative, simple->max_nonzeros(n), sign};
}

std::optional<LikelyBounds> likely_bounds(const Vector& sample, Index n, const SparseFit& fit) {
  if (!sample.allFinite()) return std::nullopt;
  std::vector<double> keys(std::size_t(sample.size()));
  const auto bound = [&](double side) {
    const Vector along = side * sample;
    passes::SizeKeys(along, fit.nonnegative).copy(0, along.size(), keys.data());
    return likely_bound(keys, n, fit.most);
  };
  const double up = bound(1);
  if (!(up >= 0)) return std::nullopt;
  if (!fit.nonnegative) return LikelyBounds{up, up};
  const double down = fit.sign == Sign::free ? bound(-1) : kNever;
  return LikelyBounds{up, down >= 0 ? down : kNever};  // few are below zero: they are left out at first
}

void Blocks::add(ConstVectorRef part, Index first, const LikelyBounds& bounds) {
  const Index last = first + part.size();
  for (Index begin = first; begin < last;) {
    const Index block = begin / kThinningBlock, end = std::min(last, (block + 1) * kThinningBlock);
    bool wanted = false;
    for (Index i = begin; i < end; ++i)
      wanted |= (part[i - first] > bounds.up) | (part[i - first] < -bounds.down);
    if (wanted) {
      numbers.push_back(block);
      entries.resize(numbers.size() * std::size_t(kThinningBlock), 0.0);
      std::copy_n(part.data() + (begin - first), end - begin,
                  entries.end() - kThinningBlock + (begin - block * kThinningBlock));
    }
    begin = end;
  }
}

void Blocks::append(const Blocks& next) {
  std::size_t begin = 0;
  if (!numbers.empty() && !next.numbers.empty() && numbers.back() == next.numbers.front()) {
    for (Index i = 0; i < kThinningBlock; ++i)
      *(entries.end() - kThinningBlock + i) += next.entries[std::size_t(i)];
    begin = 1;
  }
  numbers.insert(numbers.end(), next.numbers.begin() + std::ptrdiff_t(begin), next.numbers.end());
  entries.insert(entries.end(), next.entries.begin() + std::ptrdiff_t(begin) * kThinningBlock,
                 next.entries.end());
}

std::optional<double> fit_thinned(Index n, const Vector& sample, const LikelyBounds& bounds,
                                  const Blocks& blocks, double lower_squares, const SparseFit& fit,
                                  double curvature, Vector& u) {
  if (blocks.numbers.empty()) return std::nullopt;
  constexpr double kRounding = 1e-9;
  const Index behind = std::max<Index>(0, (blocks.numbers.back() + 1) * kThinningBlock - n);
  const Eigen::Map<const Vector> b(blocks.entries.data(), Index(blocks.entries.size()) - behind);
  const bool one_way = fit.nonnegative && fit.sign == Sign::free && bounds.down == kNever;
  const Vector opposite_sample = -sample;
  u.resize(b.size());
  bool seen = true;
  const auto maximize = [&](int side, ConstVectorRef g, VectorRef member) {
    if (side < 0 && one_way) {
      member.setZero();
      return;
    }
    const double bound = side < 0 || !fit.nonnegative ? bounds.down : bounds.up;
    seen = seen &&
           keep_largest({n, side < 0 ? opposite_sample : sample, bound, g, fit.nonnegative}, g, fit, member);
  };
  const double t = uniform_fit(maximize, !fit.nonnegative, curvature, b, fit.sign, u);
  if (!seen || (one_way && !(b.dot(u) * (1 - kRounding) > std::sqrt(lower_squares)))) return std::nullopt;
  return t;
}

}  // namespace pursuit
