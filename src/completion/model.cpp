#include "pursuit/completion/model.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

namespace pursuit {
namespace {

/// Mean and variance of the self-tuned part without its noise, in scaled units.
struct Moments {
  double mean = 0, variance = 0, noise = 0;
};

/// A member's factors with their variances, or the prior's where it was never seen.
struct Member {
  const float *mean, *variance;
  double noise_weight;
};

Member member(const CompletionSide& side, int index) {
  if (index < 0) return {side.intercept.data(), side.prior_variance.data(), 1.0};
  return {side.mean.row(index).data(), side.variance.row(index).data(),
          side.noise_weight[std::size_t(index)]};
}

Moments self_tuned(const CompletionModel& model, Position at) {
  Moments result;
  const Index rank = model.rows.mean.cols() - 1;
  if (rank < 0) return result;
  const Member row = member(model.rows, at.row), col = member(model.cols, at.col);
  result.mean = double(row.mean[0]) + col.mean[0];
  result.variance = double(row.variance[0]) + col.variance[0];
  for (Index k = 1; k <= rank; ++k) {
    const double u = row.mean[k], v = col.mean[k], su = row.variance[k], sv = col.variance[k];
    result.mean += u * v;
    result.variance += u * u * sv + v * v * su + su * sv;
  }
  result.noise = model.noise_variance / (row.noise_weight * col.noise_weight);
  return result;
}

/// The same by averaging posterior samples; members never seen have none.
Moments averaged(const CompletionModel& model, Position at) {
  if (model.samples.empty() || at.row < 0 || at.col < 0) return self_tuned(model, at);
  Moments result;
  double squares = 0;
  const auto count = double(model.samples.size());
  for (const CompletionSample& sample : model.samples) {
    const auto u = sample.rows.row(at.row), v = sample.cols.row(at.col);
    const double value = double(u[0]) + v[0] + u.tail(u.size() - 1).dot(v.tail(v.size() - 1));
    result.mean += value / count;
    squares += value * value / count;
    result.noise += sample.noise_variance /
                    (double(sample.row_noise_weight[std::size_t(at.row)]) *
                     sample.col_noise_weight[std::size_t(at.col)]) /
                    count;
  }
  result.variance = std::max(0.0, squares - result.mean * result.mean);
  return result;
}

Prediction unclipped(const CompletionModel& model, Position at) {
  const Moments moments = averaged(model, at);
  double value = model.mean + model.scale * moments.mean;
  if (at.row >= 0 && at.col >= 0)
    for (Index k = 0; k < model.atoms.rank(); ++k)
      value += model.atoms.weights[k] * model.atoms.left(at.row, k) * model.atoms.right(at.col, k);
  const double noise = moments.noise > 0 ? moments.noise : model.noise_variance;
  return {value, model.scale * std::sqrt(noise + moments.variance)};
}

}  // namespace

double CompletionModel::noise() const {
  return scale * std::sqrt(noise_variance);
}

Prediction predict(const CompletionModel& model, Position position) {
  Prediction result = unclipped(model, position);
  result.value = std::clamp(result.value, model.lowest, model.highest);
  return result;
}

std::vector<Prediction> predict(const CompletionModel& model, std::span<const Position> positions,
                                int threads) {
  std::vector<Prediction> result(positions.size());
  constexpr Index kPerTask = 4096;
  const auto count = Index(positions.size());
  parallel_for((count + kPerTask - 1) / kPerTask, resolve_threads(threads), [&](Index task) {
    for (Index i = task * kPerTask; i < std::min(count, (task + 1) * kPerTask); ++i)
      result[std::size_t(i)] = predict(model, positions[std::size_t(i)]);
  });
  return result;
}

std::vector<Recommendation> recommend(const CompletionModel& model, int row, Index count,
                                      std::span<const int> excluded) {
  const Index cols = std::max<Index>(model.cols.size(), model.atoms.right.rows());
  std::vector<Recommendation> candidates;
  candidates.reserve(std::size_t(cols));
  for (int j = 0; j < cols; ++j)
    if (!std::binary_search(excluded.begin(), excluded.end(), j))
      candidates.push_back({j, unclipped(model, {row, j})});
  // Ranked before clipping: many may reach the top of the range.
  const auto better = [](const Recommendation& a, const Recommendation& b) {
    return a.prediction.value != b.prediction.value ? a.prediction.value > b.prediction.value : a.col < b.col;
  };
  const auto kept = std::min<std::size_t>(std::size_t(count), candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + std::ptrdiff_t(kept), candidates.end(), better);
  candidates.resize(kept);
  for (Recommendation& each : candidates)
    each.prediction.value = std::clamp(each.prediction.value, model.lowest, model.highest);
  return candidates;
}

std::vector<std::vector<Recommendation>> recommend(const CompletionModel& model, int first, int last,
                                                   Index count, const GroupedEntries* seen, int threads) {
  std::vector<std::vector<Recommendation>> result(std::size_t(last - first));
  parallel_for(last - first, resolve_threads(threads), [&](Index k) {
    std::span<const int> excluded;
    if (seen) excluded = {seen->index.data() + seen->start[first + k], std::size_t(seen->count(first + k))};
    result[std::size_t(k)] = recommend(model, first + int(k), count, excluded);
  });
  return result;
}

Accuracy accuracy(std::span<const Prediction> predictions, std::span<const float> values) {
  Accuracy result{.count = Index(values.size())};
  if (values.empty()) return result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = values[i] - predictions[i].value, ratio = std::abs(error) / predictions[i].deviation;
    result.rmse += error * error;
    result.mae += std::abs(error);
    result.inside_50 += ratio <= 0.6744898;  // quantiles of the normal distribution
    result.inside_80 += ratio <= 1.2815516;
    result.inside_95 += ratio <= 1.9599640;
  }
  const auto count = double(values.size());
  result.rmse = std::sqrt(result.rmse / count);
  for (double* figure : {&result.mae, &result.inside_50, &result.inside_80, &result.inside_95})
    *figure /= count;
  return result;
}

}  // namespace pursuit
