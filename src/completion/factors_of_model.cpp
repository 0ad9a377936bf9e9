#include "completion/factors_of_model.hpp"

#include <algorithm>
#include <numeric>

namespace pursuit {
namespace {

constexpr double kNothing = 1e-4;  // an atom that explains less than this share of the noise is dropped

FactorMatrix selected(std::span<const float> rows, std::size_t width, const std::vector<int>& columns) {
  FactorMatrix result(Index(rows.size() / width), Index(columns.size()));
  for (Index i = 0; i < result.rows(); ++i)
    for (Index c = 0; c < result.cols(); ++c)
      result(i, c) = rows[std::size_t(i) * width + std::size_t(columns[c])];
  return result;
}

std::vector<float> list_of(const SharedNumbers<float>& numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

std::vector<int> used_coordinates(const BayesianFactors& f) {
  std::vector<double> energy(std::size_t(f.width()), 0.0);
  const auto mean_squares = [&](const FactorSide& side) {
    return Vector(sum_over_members(side.size(), f.width(), f.threads(),
                                   [&](Index i, double* sum) {
                                     for (Index c = 0; c < f.width(); ++c)
                                       sum[c] += double(side.mean[i * f.width() + c]) *
                                                 side.mean[i * f.width() + c];
                                   }) /
                  double(side.size()));
  };
  const Vector of_rows = mean_squares(f.rows()), of_cols = mean_squares(f.cols());
  std::vector<int> result;
  for (int c = 1; c <= f.atoms(); ++c) {
    energy[c] = of_rows[c] * of_cols[c];
    if (energy[c] > kNothing * f.noise_variance()) result.push_back(c);
  }
  std::stable_sort(result.begin(), result.end(), [&](int a, int b) { return energy[a] > energy[b]; });
  result.insert(result.begin(), 0);
  return result;
}

CompletionSide side_of_model(const FactorSide& side, const std::vector<int>& coordinates, bool use_pattern,
                             const std::optional<ScaledFeatures>& features) {
  const std::size_t width = side.prior_variance.size();
  CompletionSide result{.mean = selected(side.mean, width, coordinates),
                        .variance = selected(side.variance, width, coordinates),
                        .pattern = {},
                        .features = {},
                        .intercept = {},
                        .prior_variance = {},
                        .pattern_variance = {},
                        .features_variance = {},
                        .noise_weight = list_of(side.noise_weight),
                        .noise_shape = side.noise_shape,
                        .base_intercept = {},
                        .base_variance = {},
                        .selection = {},
                        .unseen = {}};
  const auto chosen = [&](const std::vector<double>& numbers) {
    Eigen::VectorXf values(coordinates.size());
    for (std::size_t c = 0; c < coordinates.size(); ++c) values[Index(c)] = float(numbers[coordinates[c]]);
    return values;
  };
  result.intercept = chosen(side.intercept);
  result.prior_variance = chosen(side.prior_variance);
  if (use_pattern) {
    result.pattern = selected(side.regressions.front().weights(), width, coordinates);
    result.pattern_variance = chosen(side.regressions.front().prior_variance());
  }
  if (features) {
    result.features = selected(side.regressions.back().weights(), width, coordinates);
    result.features_variance = chosen(side.regressions.back().prior_variance());
    for (Index f = 0; f < result.features.rows(); ++f) result.features.row(f) *= float(features->scale(f));
  }
  return result;
}

CompletionSample sample_of(const BayesianFactors& f) {
  std::vector<int> all(std::size_t(f.atoms() + 1));
  std::iota(all.begin(), all.end(), 0);
  const auto width = std::size_t(f.width());
  return {selected(f.rows().mean, width, all), selected(f.cols().mean, width, all),
          list_of(f.rows().noise_weight), list_of(f.cols().noise_weight), f.noise_variance()};
}

}  // namespace pursuit
