#include "completion/predictor.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "pursuit/base/error.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

constexpr double kLargestLog = 300;  // of a mean: what is larger was not estimated

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

Moments posterior(const CompletionModel& model, Position at) {
  const Index width = model.rows.mean.cols();
  if (width == 0) return {};
  const Member row = member(model.rows, at.row), col = member(model.cols, at.col);
  Moments result = moments_of(row.mean, row.variance, col.mean, col.variance, width);
  result.noise = model.noise_variance / (row.noise_weight * col.noise_weight);
  if (!has_entries(model.cols, at.col)) result.mean += selection(model.rows, at.row);
  if (!has_entries(model.rows, at.row)) result.mean += selection(model.cols, at.col);
  return result;
}

Moments drawn(const CompletionModel& model, Position at) {
  DrawnEntry entry;
  for (const CompletionSample& sample : model.samples)
    entry.add(inner(sample.rows.row(at.row).data(), sample.cols.row(at.col).data(), sample.rows.cols()),
              sample.noise_variance / (double(sample.row_noise_weight[std::size_t(at.row)]) *
                                       sample.col_noise_weight[std::size_t(at.col)]));
  return entry.moments(double(model.samples.size()));
}

AtomMember atom_member(const CompletionSide& side, const Matrix& entries, const Vector* weights,
                       const AverageMember& average, int index) {
  return {entries, weights, has_entries(side, index) ? nullptr : &average, index};
}

}  // namespace

Prediction through_link(const Loss& loss, double mean, double variance) {
  const double p = loss.mean(mean / std::sqrt(1 + std::numbers::pi / 8 * variance));
  return {p, std::sqrt(p * (1 - p))};
}

double within_range(const CompletionModel& model, double x) {
  if (model.loss.kind == Loss::ordinal) return x;
  if (!model.loss.has_log_link()) {
    const double lowest = model.loss.has_positive_means() && !(model.lowest > 0) ? x : model.lowest;
    return std::min(std::max(x, lowest), model.highest);
  }
  if (model.highest > 0) x = std::min(x, std::log(model.highest));
  return model.lowest > 0 ? std::max(x, std::log(model.lowest)) : x;
}

Predictor::Predictor(const CompletionModel& model, Members members) : model_(model) {
  if (model.atoms.rank() == 0 || members == Members::seen) return;
  row_ = average_row(model);
  col_ = average_column(model);
}

AtomMember Predictor::row(int index) const {
  return atom_member(model_.rows, model_.atoms.left(), &model_.atoms.weights, row_, index);
}

AtomMember Predictor::column(int index) const {
  return atom_member(model_.cols, model_.atoms.right(), nullptr, col_, index);
}

/// Averaged over posterior samples where there are any; members never seen have none.
Moments Predictor::self_tuned(Position at) const {
  const bool has_average = model_.average_rows.size() > 0;
  if ((model_.samples.empty() && !has_average) || !has_entries(model_.rows, at.row) ||
      !has_entries(model_.cols, at.col))
    return posterior(model_, at);
  Moments result = model_.samples.empty() ? posterior(model_, at) : drawn(model_, at);
  if (has_average)
    result.mean = inner(model_.average_rows.row(at.row).data(), model_.average_cols.row(at.col).data(),
                        model_.average_rows.cols());
  return result;
}

Moments Predictor::linear(Position at, const Moments& self_tuned) const {
  const double unit = model_.scale * model_.scale;
  Moments x{model_.mean + model_.scale * self_tuned.mean, unit * self_tuned.variance, self_tuned.noise};
  if (const Index rank = model_.atoms.rank(); rank > 0) {
    const AtomMember left = row(at.row), right = column(at.col);
    for (Index k = 0; k < rank; ++k) {
      const double l = left.mean(k), r = right.mean(k), l_variance = left.variance(k),
                   r_variance = right.variance(k);
      x.mean += l * r;
      x.variance += l * l * r_variance + r * r * l_variance + l_variance * r_variance;
    }
  }
  if (model_.loss.has_log_link()) x.mean = std::min(x.mean, kLargestLog);
  return x;
}

Prediction Predictor::unclipped(Position at, const Moments& self_tuned) const {
  const Moments x = linear(at, self_tuned);
  const double unit = model_.scale * model_.scale;
  const Loss& loss = model_.loss;
  if (loss.kind == Loss::squares) return {x.mean, std::sqrt(unit * x.noise + x.variance)};
  if (loss.kind == Loss::bernoulli) return through_link(loss, x.mean, model_.noise_variance * x.variance);
  const double mean = mean_of(loss, model_.own_terms, x.mean), slope = loss.has_log_link() ? mean : 1.0;
  const double noise = unit * model_.noise_variance * variance_of(loss, model_.own_terms, x.mean);
  return {mean, std::sqrt(noise + slope * slope * x.variance)};
}

double Predictor::cost(Position at, double y) const {
  if (model_.loss.kind == Loss::bernoulli) return -log_likelihood(unclipped(at).value, y);
  return cost_of(model_.loss, model_.own_terms, y, within_range(model_, linear_mean(at)));
}

Prediction Predictor::operator()(Position at) const {
  require_inside(at);
  return clipped(unclipped(at));
}

void Predictor::require_inside(Position at) const {
  const Index rows = model_.row_count(), cols = model_.column_count();
  if (at.row < -1 || at.row >= rows || at.col < -1 || at.col >= cols)
    throw InvalidArgument(
        fmt::format("position ({}, {}): rows are 0 to {}, columns 0 to {}, and -1 stands for one never seen",
                    at.row, at.col, rows - 1, cols - 1));
}

}  // namespace pursuit
