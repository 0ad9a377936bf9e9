#include "pursuit/completion/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/chunks.hpp"
#include "base/parallel.hpp"
#include "completion/predictor.hpp"

namespace pursuit {
namespace {

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

CompletionSide plain_side(Index size) {
  CompletionSide side;
  side.mean = side.variance = FactorMatrix::Zero(size, 1);
  side.intercept = side.prior_variance = Eigen::VectorXf::Zero(1);
  side.noise_weight.assign(std::size_t(size), 1.0F);
  return side;
}

CompletionModel transposed(CompletionModel model) {
  std::swap(model.rows, model.cols);
  std::swap(model.drift.rows, model.drift.cols);
  for (CompletionSample& sample : model.samples) {
    std::swap(sample.rows, sample.cols);
    std::swap(sample.row_noise_weight, sample.col_noise_weight);
  }
  std::swap(model.average_rows, model.average_cols);
  if (model.atoms.rank() > 0 && !model.atoms.symmetric())
    model.atoms = Expansion(model.atoms.right(), model.atoms.left(), model.atoms.weights);
  return model;
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

void note_unseen(CompletionModel& model, const std::vector<std::int64_t>& row_start,
                 const std::vector<std::int64_t>& col_start) {
  for (auto [side, start] : {std::pair(&model.rows, &row_start), {&model.cols, &col_start}}) {
    side->unseen.clear();
    for (std::size_t i = 0; i + 1 < start->size(); ++i)
      if ((*start)[i] == (*start)[i + 1]) side->unseen.push_back(int(i));
  }
}

bool has_entries(const CompletionSide& side, int index) {
  return index >= 0 && !std::binary_search(side.unseen.begin(), side.unseen.end(), index);
}

AverageMember average_row(const CompletionModel& model) {
  return average_of(model.atoms.scaled_left(), model.rows.unseen);
}

AverageMember average_column(const CompletionModel& model) {
  return average_of(model.atoms.right(), model.cols.unseen);
}

std::vector<Position> positions_of(const ObservedEntries& entries) {
  std::vector<Position> result(entries.row.size());
  for (std::size_t e = 0; e < result.size(); ++e) result[e] = {entries.row[e], entries.col[e]};
  return result;
}

double CompletionModel::noise() const {
  if (loss.kind != Loss::squares && loss.kind != Loss::huber && loss.kind != Loss::absolute)
    return std::numeric_limits<double>::quiet_NaN();
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
  for_entries(result.size(), resolve_threads(threads),
              [&](std::size_t e) { result[e] = predictor(positions[e]); });
  return result;
}

Accuracy accuracy(std::span<const Prediction> predictions, std::span<const float> values) {
  constexpr double kLeastDeviation = 1e-12;  // of models that say they are sure
  Accuracy result{.count = Index(values.size())};
  if (values.empty()) return result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - predictions[i].value), deviation = predictions[i].deviation;
    result.rmse += error * error;
    result.mae += error;
    const double spread = std::max(deviation, kLeastDeviation);
    result.log_likelihood -=
        0.5 * std::pow(error / spread, 2) + std::log(spread) + 0.5 * std::log(2 * std::numbers::pi);
    result.inside_50 += error <= 0.6744898 * deviation;  // quantiles of the normal distribution
    result.inside_80 += error <= 1.2815516 * deviation;
    result.inside_95 += error <= 1.9599640 * deviation;
  }
  const auto count = double(values.size());
  result.rmse = std::sqrt(result.rmse / count);
  for (double* figure :
       {&result.mae, &result.inside_50, &result.inside_80, &result.inside_95, &result.log_likelihood})
    *figure /= count;
  return result;
}

double log_likelihood(double probability, double value) {
  constexpr double kLeast = 1e-12;  // rounding makes no prediction a certainty
  const double p = std::clamp(probability, kLeast, 1 - kLeast);
  return value * std::log(p) + (1 - value) * std::log1p(-p);
}

LikelihoodScore likelihood_score(std::span<const Prediction> predictions, std::span<const float> values) {
  LikelihoodScore result{.count = Index(values.size())};
  if (values.empty()) return result;
  constexpr std::size_t kBins = 10;
  std::vector<std::pair<double, double>> order, bins(kBins, {0, 0});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = predictions[i].value, y = values[i];
    result.log_likelihood += log_likelihood(p, y);
    result.accuracy += (p >= 0.5) == (y >= 0.5);
    order.emplace_back(p, y);
    auto& [sum_p, sum_y] = bins[std::min(kBins - 1, std::size_t(std::max(p, 0.0) * double(kBins)))];
    sum_p += p;
    sum_y += y;
  }
  for (const auto& [sum_p, sum_y] : bins) result.calibration += std::abs(sum_p - sum_y);
  result.calibration /= double(values.size());
  result.log_likelihood /= double(values.size());
  result.accuracy /= double(values.size());
  std::sort(order.begin(), order.end());
  double zeros = 0, pairs = 0, ones = 0;  // zeros below, pairs in order
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    double tied_zeros = 0, tied_ones = 0;
    for (; last < order.size() && order[last].first == order[first].first; ++last) {
      tied_ones += order[last].second;
      tied_zeros += 1 - order[last].second;
    }
    pairs += tied_ones * (zeros + 0.5 * tied_zeros);
    zeros += tied_zeros;
    ones += tied_ones;
  }
  result.auc = zeros > 0 && ones > 0 ? pairs / (zeros * ones) : 0.5;
  return result;
}

std::string error_name(const Loss& loss) {
  switch (loss.kind) {
    case Loss::squares: return "RMSE";
    case Loss::bernoulli:
    case Loss::ordinal: return "log loss";
    case Loss::huber:
    case Loss::absolute:
    case Loss::quantile: return "mean loss";
    default: return "mean deviance";
  }
}

double mean_error(const Loss& loss, double costs, double weights) {
  const double mean = costs / weights;
  if (loss.kind == Loss::squares) return std::sqrt(2 * mean);
  return error_name(loss) == "mean deviance" ? 2 * mean : mean;
}

double mean_error(const CompletionModel& model, std::span<const Position> positions,
                  std::span<const float> values, std::span<const float> weights, int threads) {
  const Predictor predictor(model);
  for (const Position& position : positions) predictor.require_inside(position);
  struct Sums {
    double cost = 0, weight = 0;
    Sums& operator+=(const Sums& more) {
      cost += more.cost;
      weight += more.weight;
      return *this;
    }
  };
  const Sums sums = chunked_sum<Sums>(
      Chunks(Index(values.size())), resolve_threads(threads), [&](Index first, Index count) {
        Sums part;
        for (auto e = std::size_t(first); e < std::size_t(first + count); ++e) {
          const double weight = weights.empty() ? 1.0 : weights[e];
          if (weight == 0) continue;
          part += {weight * predictor.cost(positions[e], values[e]), weight};
        }
        return part;
      });
  return mean_error(model.loss, sums.cost, sums.weight);
}

}  // namespace pursuit
