#include "pursuit/completion/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "completion/predictor.hpp"
#include "pursuit/base/error.hpp"

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

bool has_entries(const CompletionSide& side, int index) {
  return index >= 0 && !std::binary_search(side.unseen.begin(), side.unseen.end(), index);
}

AverageMember average_of(const Matrix& entries, const std::vector<int>& unseen) {
  AverageMember result{entries.colwise().sum().transpose(), Vector::Zero(entries.cols())};
  for (const int i : unseen) result.mean -= entries.row(i).transpose();
  const double count = double(std::max<Index>(entries.rows() - Index(unseen.size()), 1));
  result.mean /= count;
  std::size_t next = 0;
  for (Index i = 0; i < entries.rows(); ++i) {
    if (next < unseen.size() && unseen[next] == i)
      ++next;
    else
      result.variance += (entries.row(i).transpose() - result.mean).cwiseAbs2() / count;
  }
  return result;
}

}  // namespace

Predictor::Predictor(const CompletionModel& model, Members members) : model_(model) {
  if (model.atoms.rank() == 0 || members == Members::seen) return;
  row_ = average_row(model);
  col_ = average_column(model);
}

Prediction Predictor::unclipped(Position at) const {
  const Moments moments = averaged(model_, at);
  double value = model_.mean + model_.scale * moments.mean, spread = 0;
  if (const Index rank = model_.atoms.rank(); rank > 0) {
    const bool row = has_entries(model_.rows, at.row), col = has_entries(model_.cols, at.col);
    for (Index k = 0; k < rank; ++k) {
      const double l = row ? model_.atoms.weights[k] * model_.atoms.left()(at.row, k) : row_.mean[k];
      const double r = col ? model_.atoms.right()(at.col, k) : col_.mean[k];
      const double l_variance = row ? 0 : row_.variance[k], r_variance = col ? 0 : col_.variance[k];
      value += l * r;
      spread += l * l * r_variance + r * r * l_variance + l_variance * r_variance;
    }
  }
  return {value, std::sqrt(model_.scale * model_.scale * (moments.noise + moments.variance) + spread)};
}

Prediction Predictor::operator()(Position at) const {
  require_inside(at);
  Prediction result = unclipped(at);
  result.value = std::clamp(result.value, model_.lowest, model_.highest);
  return result;
}

void Predictor::require_inside(Position at) const {
  const Index rows = model_.row_count(), cols = model_.column_count();
  if (at.row < -1 || at.row >= rows || at.col < -1 || at.col >= cols)
    throw InvalidArgument(
        fmt::format("position ({}, {}): rows are 0 to {}, columns 0 to {}, and -1 stands for one never seen",
                    at.row, at.col, rows - 1, cols - 1));
}

CompletionSide plain_side(Index size) {
  CompletionSide side;
  side.mean = side.variance = FactorMatrix::Zero(size, 1);
  side.intercept = side.prior_variance = Eigen::VectorXf::Zero(1);
  side.noise_weight.assign(std::size_t(size), 1.0F);
  return side;
}

void note_unseen(CompletionModel& model, const GroupedEntries& by_row) {
  model.rows.unseen.clear();
  model.cols.unseen.clear();
  std::vector<char> has_entry(std::size_t(model.column_count()), 0);
  for (const int j : by_row.index) has_entry[std::size_t(j)] = 1;
  for (Index i = 0; i < by_row.size(); ++i)
    if (by_row.count(i) == 0) model.rows.unseen.push_back(int(i));
  for (Index j = 0; j < model.column_count(); ++j)
    if (!has_entry[std::size_t(j)]) model.cols.unseen.push_back(int(j));
}

AverageMember average_row(const CompletionModel& model) {
  return average_of(model.atoms.scaled_left(), model.rows.unseen);
}

AverageMember average_column(const CompletionModel& model) {
  return average_of(model.atoms.right(), model.cols.unseen);
}

double CompletionModel::noise() const {
  return scale * std::sqrt(noise_variance);
}

Prediction predict(const CompletionModel& model, Position position) {
  const bool seen = has_entries(model.rows, position.row) && has_entries(model.cols, position.col);
  return Predictor(model, seen ? Predictor::Members::seen : Predictor::Members::any)(position);
}

std::vector<Prediction> predict(const CompletionModel& model, std::span<const Position> positions,
                                int threads) {
  const Predictor predictor(model);
  for (const Position& position : positions) predictor.require_inside(position);
  std::vector<Prediction> result(positions.size());
  constexpr Index kPerTask = 4096;
  const auto count = Index(positions.size());
  parallel_for((count + kPerTask - 1) / kPerTask, resolve_threads(threads), [&](Index task) {
    for (Index i = task * kPerTask; i < std::min(count, (task + 1) * kPerTask); ++i)
      result[std::size_t(i)] = predictor(positions[std::size_t(i)]);
  });
  return result;
}

Accuracy accuracy(std::span<const Prediction> predictions, std::span<const float> values) {
  Accuracy result{.count = Index(values.size())};
  if (values.empty()) return result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - predictions[i].value), deviation = predictions[i].deviation;
    result.rmse += error * error;
    result.mae += error;
    result.inside_50 += error <= 0.6744898 * deviation;  // quantiles of the normal distribution
    result.inside_80 += error <= 1.2815516 * deviation;
    result.inside_95 += error <= 1.9599640 * deviation;
  }
  const auto count = double(values.size());
  result.rmse = std::sqrt(result.rmse / count);
  for (double* figure : {&result.mae, &result.inside_50, &result.inside_80, &result.inside_95})
    *figure /= count;
  return result;
}

}  // namespace pursuit
