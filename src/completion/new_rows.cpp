#include "pursuit/completion/new_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "linalg/cholesky.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr double kSmallestVariance = 1e-12;  // of an atom that no row uses, for values of unit scale
constexpr Index kRowsPerTask = 64;

Index own_width(const CompletionModel& model) {  // offset and factors; 0 where there are none
  return model.rows.mean.cols();
}

/// What does not depend on the row.
struct Held {
  Matrix z, spread;             // columns x width: regressors, and their variances
  Vector offset, weight;        // of columns: b_j, and the precision of their noise in units of 1 / sigma^2
  Vector prior_mean, variance;  // p without the pattern, tau

  explicit Held(const CompletionModel& model)
      : z(model.column_count(), row_width(model)),
        spread(Matrix::Zero(z.rows(), z.cols())),
        offset(Vector::Zero(z.rows())),
        weight(Vector::Ones(z.rows())),
        prior_mean(Vector::Zero(z.cols())),
        variance(Vector::Ones(z.cols())) {
    const Index own = own_width(model), atoms = model.atoms.rank();
    if (own > 0) {
      const CompletionSide& cols = model.cols;
      z.leftCols(own) = cols.mean.cast<double>();
      z.col(0).setOnes();
      spread.leftCols(own) = cols.variance.cast<double>();
      spread.col(0).setZero();
      offset = cols.mean.col(0).cast<double>();
      weight = Eigen::Map<const Eigen::VectorXf>(cols.noise_weight.data(), z.rows()).cast<double>();
      prior_mean.head(own) = model.rows.intercept.cast<double>();
      variance.head(own) = model.rows.prior_variance.cast<double>();
    }
    if (atoms > 0) {
      z.rightCols(atoms) = model.atoms.right / model.scale;
      const AverageMember row = average_row(model);
      prior_mean.tail(atoms) = row.mean;
      variance.tail(atoms) = row.variance.cwiseMax(kSmallestVariance * model.scale * model.scale);
    }
    variance.head(own) = variance.head(own).cwiseMax(kSmallestVariance);
  }
};

/// What having an entry in some columns says about a row.
Vector prior_of(const CompletionModel& model, const Held& held, const int* columns, Index count) {
  Vector prior = held.prior_mean;
  const FactorMatrix& pattern = model.rows.pattern;
  if (pattern.size() > 0 && count > 0)
    for (Index e = 0; e < count; ++e)
      prior.head(pattern.cols()) +=
          pattern.row(columns[e]).transpose().cast<double>() / std::sqrt(double(count));
  return prior;
}

Vector posterior_mean(const CompletionModel& model, const Held& held, const int* columns, const float* values,
                      Index count) {
  const Vector precision = held.variance.cwiseInverse();
  Matrix A = precision.asDiagonal();
  Vector b = precision.cwiseProduct(prior_of(model, held, columns, count));
  const double noise = std::max(model.noise_variance, kSmallestVariance);
  for (Index e = 0; e < count; ++e) {
    const Index j = columns[e];
    const double w = held.weight[j] / noise;
    const double y = (double(values[e]) - model.mean) / model.scale - held.offset[j];
    A.selfadjointView<Eigen::Lower>().rankUpdate(held.z.row(j).transpose(), w);
    A.diagonal() += w * held.spread.row(j).transpose();
    b += w * y * held.z.row(j).transpose();
  }
  const Cholesky posterior(A);
  if (!posterior.definite())
    throw InvalidInput("new rows: the variances of this model leave the range of double precision");
  return posterior.solve(b);
}

}  // namespace

Index row_width(const CompletionModel& model) {
  return own_width(model) + model.atoms.rank();
}

Matrix new_row_factors(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  const Index columns = model.column_count(), n = entries.size();
  for (std::size_t e = 0; e < entries.index.size(); ++e)
    if (entries.index[e] < 0 || entries.index[e] >= columns || !std::isfinite(entries.value[e]))
      throw InvalidInput(
          fmt::format("new rows: entry {} in column {}; columns are 0 to {}, values finite numbers",
                      entries.value[e], entries.index[e], columns - 1));
  const Held held(model);
  Matrix factors(n, row_width(model));
  parallel_for((n + kRowsPerTask - 1) / kRowsPerTask, resolve_threads(threads), [&](Index task) {
    for (Index i = task * kRowsPerTask; i < std::min(n, (task + 1) * kRowsPerTask); ++i)
      factors.row(i) = posterior_mean(model, held, entries.index.data() + entries.start[i],
                                      entries.value.data() + entries.start[i], entries.count(i))
                           .transpose();
  });
  return factors;
}

Matrix predict_rows(const CompletionModel& model, const Matrix& factors) {
  if (factors.cols() != row_width(model))
    throw InvalidArgument(
        fmt::format("rows with {} factors; those of this model have {}", factors.cols(), row_width(model)));
  const Held held(model);
  Matrix rows = factors * held.z.transpose();
  rows = model.mean + model.scale * (rows.rowwise() + held.offset.transpose()).array();
  return rows.cwiseMax(model.lowest).cwiseMin(model.highest);
}

}  // namespace pursuit
