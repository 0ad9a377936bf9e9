#include "completion/row_step.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/cholesky.hpp"
#include "pursuit/weights/nonnegative_least_squares.hpp"

namespace pursuit {
namespace {

constexpr int kLinkSteps = 30;               // of rows whose squares follow from where they stand
constexpr double kSmallestVariance = 1e-12;  // of an atom that no row uses, for values of unit scale

}  // namespace

RowStep::RowStep(const CompletionModel& model)
    : model_(model),
      predictor_(model),
      own_(model.rows.mean.cols()),
      padded_(padded_width(int(own_ + model.atoms.rank()))),
      unit_(Vector::Ones(own_ + model.atoms.rank())),
      prior_mean_(Vector::Zero(padded_)),
      variance_(std::size_t(padded_), kSmallestVariance) {
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

double RowStep::noise_variance() const {
  return has_link() ? 1.0 : std::max(model_.noise_variance, kSmallestVariance);
}

RowStep::Posterior RowStep::posterior(GroupedEntries entries, int threads) const {
  const Index n = entries.size();
  if (!has_link())
    for (float& value : entries.value) value = float((double(value) - model_.mean) / model_.scale);
  const AlignedVector<float> priors = prior_means(entries);
  const std::vector<float> noise_weight(std::size_t(n), 1.0F);
  AlignedVector<float> mean = priors, variance(priors.size());
  std::vector<double> squared_error(static_cast<std::size_t>(n));
  const EntryTasks tasks(entries);
  const Regressors held = columns(threads);
  for (int step = 0; step < (has_link() ? kLinkSteps : 1); ++step)
    update_rows(tasks, held, {priors, variance_, noise_weight, noise_variance()}, 0, threads,
                {mean, variance, squared_error});
  Posterior result{Matrix(n, width()), Matrix(n, width())};
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < width(); ++c) {
      result.mean(i, c) = unit_[c] * mean[i * padded_ + c];
      result.variance(i, c) = unit_[c] * unit_[c] * variance[i * padded_ + c];
    }
    if (entries.count(i) > 0) continue;
    result.mean.row(i).head(own_) = model_.rows.intercept.cast<double>();
    result.variance.row(i).head(own_) = model_.rows.prior_variance.cast<double>();
  }
  if (model_.rows.nonnegative && !has_link()) keep_nonnegative(entries, priors, threads, result.mean);
  return result;
}

/// Rows whose best entries of structured atoms are negative get the best that are not, of the same sums; what
/// is free of signs is found with them.
void RowStep::keep_nonnegative(const GroupedEntries& entries, const AlignedVector<float>& priors, int threads,
                               Matrix& mean) const {
  const Index atoms = width() - own_;
  parallel_for(entries.size(), threads, [&](Index i) {
    if (entries.count(i) == 0 || !(mean.row(i).tail(atoms).array() < 0).any()) return;
    Matrix gram = prior_variance().cwiseInverse().asDiagonal();
    Vector sums =
        gram * Eigen::Map<const Eigen::VectorXf>(priors.data() + i * padded_, width()).cast<double>();
    for (std::int64_t e = entries.start[std::size_t(i)]; e < entries.start[std::size_t(i) + 1]; ++e) {
      const Column each = column(entries.index[std::size_t(e)]);
      const double precision = each.noise_weight / noise_variance();
      gram += precision * (each.factors * each.factors.transpose());
      gram.diagonal().tail(width() - 1) +=
          precision * each.variance.tail(width() - 1);  // not that of offsets
      sums += precision * (double(entries.value[std::size_t(e)]) - each.offset) * each.factors;
    }
    const Cholesky free(gram.topLeftCorner(own_, own_));
    const Matrix across =
        free.solve(gram.topRightCorner(own_, atoms));  // what the free entries make of others
    const Matrix inner = gram.bottomRightCorner(atoms, atoms) - gram.bottomLeftCorner(atoms, own_) * across;
    const Vector target = sums.tail(atoms) - across.transpose() * sums.head(own_);
    const Vector bounded = nonnegative_least_squares(inner, target.transpose()).row(0).transpose();
    const Vector rest = free.solve(sums.head(own_)) - across * bounded;
    mean.row(i).head(own_) = rest.cwiseProduct(unit_.head(own_)).transpose();
    mean.row(i).tail(atoms) = bounded.cwiseProduct(unit_.tail(atoms)).transpose();
  });
}

RowStep::Column RowStep::column(int j) const {
  Column result{model_.cols.mean(j, 0), model_.cols.noise_weight[std::size_t(j)], Vector(width()),
                Vector(width())};
  result.factors.head(own_) = model_.cols.mean.row(j).transpose().cast<double>();
  result.variance.head(own_) = model_.cols.variance.row(j).transpose().cast<double>();
  const AtomMember member = predictor_.column(j);
  for (Index c = own_; c < width(); ++c) {
    const double to_unit_size = unit_[c] / model_.scale;
    result.factors[c] = to_unit_size * member.mean(c - own_);
    result.variance[c] = to_unit_size * to_unit_size * member.variance(c - own_);
  }
  result.factors[0] = 1;
  return result;
}

Regressors RowStep::columns(int threads) const {
  const CompletionSide& cols = model_.cols;
  AlignedVector<float> mean(std::size_t(cols.size() * padded_), 0.0F), variance = mean;
  for (Index j = 0; j < cols.size(); ++j) {
    const Column each = column(int(j));
    for (Index c = 0; c < width(); ++c) {
      mean[j * padded_ + c] = float(c == 0 ? each.offset : each.factors[c]);
      variance[j * padded_ + c] = float(each.variance[c]);
    }
  }
  Regressors held;
  held.loss = model_.loss.kind;
  if (has_link()) variance.clear();
  set_regressors(held, mean, variance, cols.noise_weight, padded_, has_link() ? model_.mean : 0.0, 1,
                 threads);
  return held;
}

void RowStep::add_pattern(int j, Index entries, Vector& prior) const {
  const FactorMatrix& pattern = model_.rows.pattern;
  if (pattern.size() > 0)
    prior.head(own_) += pattern.row(j).transpose().cast<double>() / std::sqrt(double(entries));
}

/// With what having an entry in some columns says about a row.
AlignedVector<float> RowStep::prior_means(const GroupedEntries& entries) const {
  AlignedVector<float> result(std::size_t(entries.size() * padded_));
  for (Index i = 0; i < entries.size(); ++i) {
    Vector prior = prior_mean_;
    for (std::int64_t e = entries.start[i]; e < entries.start[i + 1]; ++e)
      add_pattern(entries.index[e], entries.count(i), prior);
    for (Index c = 0; c < padded_; ++c) result[i * padded_ + c] = float(prior[c]);
  }
  return result;
}

}  // namespace pursuit
