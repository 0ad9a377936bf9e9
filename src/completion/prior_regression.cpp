#include "completion/prior_regression.hpp"

#include <algorithm>
#include <cmath>

#include "base/kernel.hpp"
#include "base/parallel.hpp"
#include "completion/gamma.hpp"
#include "completion/row_posteriors.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr double kStart = 0.01;       // of nu: priors hardly move at first
constexpr double kSmallestNu = 1e-9;  // of nu

typedef float Eight __attribute__((vector_size(32), may_alias));
typedef float Sixteen __attribute__((vector_size(64), may_alias));

/// Some coordinates, as many as Vec has lanes, of all features: what one task works on.
struct Slice {
  const std::int64_t* start;
  const int* member;
  const float* value;         // per entry, or null
  const float* scale;         // per member, where value is null
  const float* squared_norm;  // per feature
  Index features;
  const float* normal;  // per feature and coordinate, or null for means
  Index stride;
  alignas(64) float tau[16];
  alignas(64) float ratio[16];  // tau / nu
};

constexpr int kFetchAhead = 12;  // entries ahead whose deviations are asked for: they lie anywhere in memory

// Both are written through vectors that alias them, which the analysis does not see.
// NOLINTBEGIN(readability-non-const-parameter)
template <class Vec>
[[gnu::always_inline]] inline void step(const Slice& s, float* deviation, float* weights, double* squares,
                                        double* variances) {
  constexpr int kLanes = sizeof(Vec) / sizeof(float);
  const Vec tau = *reinterpret_cast<const Vec*>(s.tau), ratio = *reinterpret_cast<const Vec*>(s.ratio);
  const auto factor = [&](std::int64_t e) { return s.value ? s.value[e] : s.scale[s.member[e]]; };
  const auto member = [&](std::int64_t e) -> Vec& {
    return *reinterpret_cast<Vec*>(deviation + s.member[e] * s.stride);
  };
  const std::int64_t all = s.start[s.features];
  for (Index f = 0; f < s.features; ++f) {
    const float norm = s.squared_norm[f];
    if (!(norm > 0)) continue;
    Vec sum = {}, other = {};
    std::int64_t e = s.start[f];
    for (; e + 1 < s.start[f + 1]; e += 2) {
      __builtin_prefetch(&member(std::min(e + kFetchAhead, all - 1)), 1);
      __builtin_prefetch(&member(std::min(e + kFetchAhead + 1, all - 1)), 1);
      sum += factor(e) * member(e);
      other += factor(e + 1) * member(e + 1);
    }
    if (e < s.start[f + 1]) sum += factor(e) * member(e);
    auto& y = *reinterpret_cast<Vec*>(weights + f * s.stride);
    const Vec precision = norm + ratio, variance = tau / precision;
    Vec fresh = (sum + other + norm * y) / precision;
    if (s.normal)
      for (int l = 0; l < kLanes; ++l) fresh[l] += std::sqrt(variance[l]) * s.normal[f * s.stride + l];
    const Vec change = fresh - y;
    y = fresh;
    for (int l = 0; l < kLanes; ++l) {
      squares[l] += double(fresh[l]) * fresh[l] + (s.normal ? 0.0F : variance[l]);
      variances[l] += double(norm) * variance[l];
    }
    for (e = s.start[f]; e < s.start[f + 1]; ++e) member(e) -= factor(e) * change;
  }
}

// NOLINTEND(readability-non-const-parameter)

/// Coordinate steps; adds up y^2 + var y in `squares` and squared_norm * var y in `variances`.
PURSUIT_KERNEL void step_features(const Slice& s, bool wide, float* deviation, float* weights,
                                  double* squares, double* variances) {
  if (wide)
    step<Sixteen>(s, deviation, weights, squares, variances);
  else
    step<Eight>(s, deviation, weights, squares, variances);
}

}  // namespace

AlignedVector<float> widened(const AlignedVector<float>& rows, int width, int wider) {
  const std::size_t count = rows.size() / std::size_t(width);
  AlignedVector<float> result(count * std::size_t(wider), 0.0F);
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(rows.begin() + std::ptrdiff_t(i * std::size_t(width)), std::min(width, wider),
                result.begin() + std::ptrdiff_t(i * std::size_t(wider)));
  return result;
}

PriorRegression::PriorRegression(Features features, int width)
    : width_(width),
      weights_(std::size_t(features.entries->size() * width), 0.0F),
      nu_(std::size_t(width), kStart) {
  rebind(std::move(features));
}

void PriorRegression::rebind(Features features) {
  features_ = std::move(features);
  const GroupedEntries& entries = *features_.entries;
  squared_norm_.assign(std::size_t(entries.size()), 0.0F);
  for (Index f = 0; f < entries.size(); ++f)
    for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e)
      squared_norm_[f] += features_.value(e) * features_.value(e);
}

void PriorRegression::widen(int width) {
  weights_ = widened(weights_, width_, width);
  nu_.resize(std::size_t(width), kStart);
  width_ = width;
}

void PriorRegression::start_from(const FactorMatrix& weights, AlignedVector<float>& prior_mean) {
  const GroupedEntries& entries = *features_.entries;
  for (Index f = 0; f < weights.rows(); ++f) {
    std::copy_n(weights.row(f).data(), weights.cols(), &weights_[f * width_]);
    for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e)
      for (Index c = 0; c < weights.cols(); ++c)
        prior_mean[entries.index[e] * width_ + c] += features_.value(e) * weights(f, c);
  }
  for (Index c = 0; c < weights.cols(); ++c)
    nu_[c] = std::max<double>(kSmallestNu,
                              weights.col(c).squaredNorm() / float(std::max<Index>(weights.rows(), 1)));
}

std::vector<double> PriorRegression::update(std::span<const double> tau, bool draws, std::uint64_t seed,
                                            int threads, AlignedVector<float>& deviation) {
  const GroupedEntries& entries = *features_.entries;
  const Index count = entries.size();
  Random random(seed);
  AlignedVector<float> normal;
  if (draws) {
    normal.resize(weights_.size());
    constexpr Index kPerTask = 256;
    parallel_for((count + kPerTask - 1) / kPerTask, threads, [&](Index task) {
      for (Index f = task * kPerTask; f < std::min(count, (task + 1) * kPerTask); ++f) {
        Random of_feature = random.stream(f);
        for (Index i = f * width_; i < (f + 1) * width_; ++i) normal[i] = float(of_feature.gaussian());
      }
    });
  }
  std::vector<double> squares(std::size_t(width_), 0.0), variances(std::size_t(width_), 0.0);
  // Coordinates do not touch each other: wide slices read the entries less often, narrow ones keep more
  // threads busy, and the numbers are the same.
  const bool wide = width_ % 16 == 0 && width_ / 16 >= threads;
  const int lanes = wide ? 16 : kFactorLanes;
  parallel_for(width_ / lanes, threads, [&](Index block) {
    const Index first = block * lanes;
    Slice slice{entries.start.data(),
                entries.index.data(),
                features_.scale.empty() ? entries.value.data() : nullptr,
                features_.scale.data(),
                squared_norm_.data(),
                count,
                draws ? normal.data() + first : nullptr,
                width_,
                {},
                {}};
    for (int l = 0; l < lanes; ++l) {
      slice.tau[l] = float(tau[first + l]);
      slice.ratio[l] = float(tau[first + l] / nu_[first + l]);
    }
    step_features(slice, wide, deviation.data() + first, weights_.data() + first, &squares[first],
                  &variances[first]);
  });
  const auto used =
      double(std::count_if(squared_norm_.begin(), squared_norm_.end(), [](float n) { return n > 0; }));
  for (int c = 0; c < width_; ++c)
    nu_[c] = std::max(kSmallestNu,
                      draws ? draw_variance(squares[c], used, random) : squares[c] / std::max(used, 1.0));
  if (draws) std::fill(variances.begin(), variances.end(), 0.0);
  return variances;
}

}  // namespace pursuit
