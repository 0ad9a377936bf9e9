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

constexpr double kStart = 0.01;     // of nu: priors hardly move at first
constexpr double kSmallest = 1e-9;  // of nu

typedef float Eight __attribute__((vector_size(32), may_alias));

/// Eight coordinates of all features: what one task works on.
struct Slice {
  const std::int64_t* start;
  const int* member;
  const float* value;         // per entry, or null
  const float* scale;         // per member, where value is null
  const float* squared_norm;  // per feature
  Index features;
  const float* normal;  // per feature and coordinate, or null for means
  Index stride;
  alignas(32) float tau[8];
  alignas(32) float ratio[8];  // tau / nu
};

/// Coordinate steps; adds up y^2 + var y in `squares` and squared_norm * var y in `variances`.
PURSUIT_KERNEL void step_features(const Slice& s, float* deviation, float* weights, double* squares,
                                  double* variances) {
  const Eight tau = *reinterpret_cast<const Eight*>(s.tau), ratio = *reinterpret_cast<const Eight*>(s.ratio);
  for (Index f = 0; f < s.features; ++f) {
    const float norm = s.squared_norm[f];
    if (!(norm > 0)) continue;
    const auto factor = [&](std::int64_t e) { return s.value ? s.value[e] : s.scale[s.member[e]]; };
    Eight sum = {}, other = {};
    std::int64_t e = s.start[f];
    for (; e + 1 < s.start[f + 1]; e += 2) {
      sum += factor(e) * *reinterpret_cast<const Eight*>(deviation + s.member[e] * s.stride);
      other += factor(e + 1) * *reinterpret_cast<const Eight*>(deviation + s.member[e + 1] * s.stride);
    }
    if (e < s.start[f + 1])
      sum += factor(e) * *reinterpret_cast<const Eight*>(deviation + s.member[e] * s.stride);
    auto& y = *reinterpret_cast<Eight*>(weights + f * s.stride);
    const Eight precision = norm + ratio, variance = tau / precision;
    Eight fresh = (sum + other + norm * y) / precision;
    if (s.normal) {
      float root[8];
      for (int l = 0; l < 8; ++l) root[l] = std::sqrt(variance[l]) * s.normal[f * s.stride + l];
      for (int l = 0; l < 8; ++l) fresh[l] += root[l];
    }
    const Eight step = fresh - y;
    y = fresh;
    for (int l = 0; l < 8; ++l) {
      squares[l] += double(fresh[l]) * fresh[l] + (s.normal ? 0.0F : variance[l]);
      variances[l] += double(norm) * variance[l];
    }
    for (e = s.start[f]; e < s.start[f + 1]; ++e)
      *reinterpret_cast<Eight*>(deviation + s.member[e] * s.stride) -= factor(e) * step;
  }
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
    nu_[c] =
        std::max<double>(kSmallest, weights.col(c).squaredNorm() / float(std::max<Index>(weights.rows(), 1)));
}

std::vector<double> PriorRegression::update(std::span<const double> tau, bool draws, std::uint64_t seed,
                                            int threads, AlignedVector<float>& deviation) {
  const GroupedEntries& entries = *features_.entries;
  const Index count = entries.size();
  AlignedVector<float> normal;
  if (draws) {
    normal.resize(weights_.size());
    constexpr Index kPerTask = 256;
    parallel_for((count + kPerTask - 1) / kPerTask, threads, [&](Index task) {
      Random random(seed + std::uint64_t(task) * 0x9e3779b97f4a7c15ULL);
      for (Index i = task * kPerTask * width_; i < std::min(count, (task + 1) * kPerTask) * width_; ++i)
        normal[i] = float(random.gaussian());
    });
  }
  std::vector<double> squares(std::size_t(width_), 0.0), variances(std::size_t(width_), 0.0);
  parallel_for(width_ / kFactorLanes, threads, [&](Index block) {
    const Index first = block * kFactorLanes;
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
    for (int l = 0; l < kFactorLanes; ++l) {
      slice.tau[l] = float(tau[first + l]);
      slice.ratio[l] = float(tau[first + l] / nu_[first + l]);
    }
    step_features(slice, deviation.data() + first, weights_.data() + first, &squares[first],
                  &variances[first]);
  });
  Random random(seed ^ 0x5bd1e995);
  const auto used =
      double(std::count_if(squared_norm_.begin(), squared_norm_.end(), [](float n) { return n > 0; }));
  for (int c = 0; c < width_; ++c)
    nu_[c] = std::max(kSmallest,
                      draws ? draw_variance(squares[c], used, random) : squares[c] / std::max(used, 1.0));
  if (draws) std::fill(variances.begin(), variances.end(), 0.0);
  return variances;
}

}  // namespace pursuit
