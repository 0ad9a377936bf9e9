#include "pursuit/completion/new_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "completion/new_rows_by_loss.hpp"
#include "completion/predictor.hpp"
#include "completion/row_posteriors.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

constexpr int kLinkSteps = 30;               // of rows whose squares follow from where they stand
constexpr double kSmallestVariance = 1e-12;  // of an atom that no row uses, for values of unit scale

Index own_width(const CompletionModel& model) {  // offset and factors
  return model.rows.mean.cols();
}

/// A finished model seen from its rows, as row_posteriors.hpp has it: values are (value - mean) / scale, and
/// entries of structured atoms are taken to unit size, for single precision.
class RowStep {
 public:
  explicit RowStep(const CompletionModel& model)
      : model_(model),
        own_(own_width(model)),
        width_(int((row_width(model) + kFactorLanes - 1) / kFactorLanes) * kFactorLanes),
        unit_(Vector::Ones(row_width(model))),
        prior_mean_(Vector::Zero(width_)),
        variance_(std::size_t(width_), kSmallestVariance) {
    const CompletionSide& rows = model.rows;
    const bool has_base = rows.base_intercept.size() > 0;
    for (Index c = 0; c < own_; ++c) {
      prior_mean_[c] = (has_base ? rows.base_intercept : rows.intercept)[c];
      variance_[c] =
          std::max<double>(kSmallestVariance, (has_base ? rows.base_variance : rows.prior_variance)[c]);
    }
    const Index atoms = model.atoms.rank();
    if (atoms == 0) return;
    const AverageMember row = average_row(model);
    for (Index k = 0; k < atoms; ++k) {
      const double size = model.atoms.right().col(k).norm() / std::sqrt(double(model.column_count()));
      const double unit = unit_[own_ + k] = model.scale / (size > 0 ? size : 1);
      prior_mean_[own_ + k] = row.mean[k] / unit;
      variance_[own_ + k] = std::max(kSmallestVariance, row.variance[k] / unit / unit);
    }
  }

  Matrix factors(GroupedEntries entries, int threads) const {
    const Index n = entries.size();
    if (!has_link())
      for (float& value : entries.value) value = float((double(value) - model_.mean) / model_.scale);
    const AlignedVector<float> priors = prior_means(entries);
    const std::vector<float> noise_weight(std::size_t(n), 1.0F);
    AlignedVector<float> mean = priors, variance(priors.size());
    std::vector<double> squared_error(static_cast<std::size_t>(n));
    const EntryTasks tasks(entries);
    const Regressors held = columns(threads);
    const double noise = has_link() ? 1.0 : std::max(model_.noise_variance, kSmallestVariance);
    for (int step = 0; step < (has_link() ? kLinkSteps : 1); ++step)
      update_rows(tasks, held, {priors, variance_, noise_weight, noise}, 0, threads,
                  {mean, &variance, squared_error});
    Matrix result(n, unit_.size());
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < unit_.size(); ++c) result(i, c) = unit_[c] * mean[i * width_ + c];
      if (entries.count(i) == 0) result.row(i).head(own_) = model_.rows.intercept.cast<double>();
    }
    return result;
  }

 private:
  bool has_link() const { return model_.loss.kind != Loss::squares; }

  Regressors columns(int threads) const {
    const CompletionSide& cols = model_.cols;
    const Predictor predictor(model_);
    AlignedVector<float> mean(std::size_t(cols.size() * width_), 0.0F), variance = mean;
    for (Index j = 0; j < cols.size(); ++j) {
      std::copy_n(cols.mean.row(j).data(), own_, &mean[j * width_]);
      std::copy_n(cols.variance.row(j).data(), own_, &variance[j * width_]);
      const AtomMember member = predictor.column(int(j));
      for (Index c = own_; c < unit_.size(); ++c) {
        const double to_unit_size = unit_[c] / model_.scale;
        mean[j * width_ + c] = float(to_unit_size * member.mean(c - own_));
        variance[j * width_ + c] = float(to_unit_size * to_unit_size * member.variance(c - own_));
      }
    }
    Regressors held;
    held.loss = model_.loss.kind;
    set_regressors(held, mean, has_link() ? nullptr : &variance, cols.noise_weight, width_,
                   has_link() ? model_.mean : 0.0, 1, threads);
    return held;
  }

  /// With what having an entry in some columns says about a row.
  AlignedVector<float> prior_means(const GroupedEntries& entries) const {
    AlignedVector<float> result(std::size_t(entries.size() * width_));
    const FactorMatrix& pattern = model_.rows.pattern;
    for (Index i = 0; i < entries.size(); ++i) {
      Vector prior = prior_mean_;
      for (std::int64_t e = entries.start[i]; e < entries.start[i + 1] && pattern.size() > 0; ++e)
        prior.head(own_) +=
            pattern.row(entries.index[e]).transpose().cast<double>() / std::sqrt(double(entries.count(i)));
      for (Index c = 0; c < width_; ++c) result[i * width_ + c] = float(prior[c]);
    }
    return result;
  }

  const CompletionModel& model_;
  Index own_;
  int width_;
  Vector unit_;  // of factors of rows
  Vector prior_mean_;
  std::vector<double> variance_;
};

}  // namespace

Index row_width(const CompletionModel& model) {
  return own_width(model) + model.atoms.rank();
}

Matrix new_row_factors(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  const Index columns = model.column_count();
  for (std::size_t e = 0; e < entries.index.size(); ++e)
    if (!model.loss.accepts(entries.value[e]) && std::isfinite(entries.value[e]))
      throw InvalidInput(fmt::format("new rows: entry {} in column {}; the model is of {}, which takes {}",
                                     entries.value[e], entries.index[e], model.loss.spec(),
                                     model.loss.domain()));
  for (std::size_t e = 0; e < entries.index.size(); ++e)
    if (entries.index[e] < 0 || entries.index[e] >= columns || !std::isfinite(entries.value[e]))
      throw InvalidInput(
          fmt::format("new rows: entry {} in column {}; columns are 0 to {}, values finite numbers",
                      entries.value[e], entries.index[e], columns - 1));
  if (model.loss.kind != Loss::squares && model.loss.kind != Loss::bernoulli)
    return factors_by_loss(model, entries, resolve_threads(threads));
  return RowStep(model).factors(entries, resolve_threads(threads));
}

namespace {

/// Linear predictors.
Matrix linear_rows(const CompletionModel& model, const Matrix& factors) {
  if (factors.cols() != row_width(model))
    throw InvalidArgument(
        fmt::format("rows with {} factors; those of this model have {}", factors.cols(), row_width(model)));
  const Index own = own_width(model);
  const Predictor predictor(model);
  Matrix columns(model.column_count(), factors.cols());  // (b_j, v_j, r_j / scale)
  columns.leftCols(own) = model.cols.mean.cast<double>();
  for (Index j = 0; j < columns.rows(); ++j) {
    const AtomMember member = predictor.column(int(j));
    for (Index c = own; c < columns.cols(); ++c) columns(j, c) = member.mean(c - own) / model.scale;
  }
  Matrix x = factors;
  x.col(0).setOnes();
  Matrix rows = x * columns.transpose();
  rows.colwise() += factors.col(0);
  const Eigen::RowVectorXd newcomer = model.rows.intercept.transpose().cast<double>();
  for (Index i = 0; i < rows.rows(); ++i)
    if (factors.row(i).head(own) == newcomer)
      for (Index j = 0; j < rows.cols(); ++j) rows(i, j) += selection(model.cols, int(j));
  return model.mean + model.scale * rows.array();
}

}  // namespace

Matrix predict_rows(const CompletionModel& model, const Matrix& factors) {
  Matrix rows = linear_rows(model, factors);
  if (model.loss.kind != Loss::squares)
    rows = rows.unaryExpr([&](double x) { return mean_of(model.loss, model.own_terms, x); });
  return rows.cwiseMax(model.lowest).cwiseMin(model.highest);
}

double error_of_rows(const CompletionModel& model, const Matrix& factors, const ObservedEntries& entries) {
  const Matrix rows = linear_rows(model, factors);
  double costs = 0;
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    const double x = rows(entries.row[e], entries.col[e]), y = entries.value[e];
    costs += model.loss.kind == Loss::bernoulli
                 ? -log_likelihood(model.loss.mean(x), y)
                 : cost_of(model.loss, model.own_terms, y, within_range(model, x));
  }
  return mean_error(model.loss, costs, double(entries.size()));
}

}  // namespace pursuit
