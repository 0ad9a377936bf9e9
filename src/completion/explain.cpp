#include "pursuit/completion/explain.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "completion/logistic_weight.hpp"
#include "completion/row_step.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/new_rows.hpp"

namespace pursuit {
namespace {

GroupedEntries one_row(const RowFacts& row) {
  return {{0, std::int64_t(row.cols.size())},
          {row.cols.begin(), row.cols.end()},
          {row.values.begin(), row.values.end()}};
}

/// A, and what each entry adds to A (x - p), x being the posterior mean.
class RowSystem {
 public:
  RowSystem(const CompletionModel& model, const RowFacts& row)
      : step_(model), prior_(step_.prior_mean()), shares_(step_.width(), Index(row.cols.size())) {
    for (const auto& [feature, value] : row.features) {
      if (feature < 0 || feature >= model.rows.features.rows())
        throw InvalidArgument(
            fmt::format("row feature {}: the model has {}", feature, model.rows.features.rows()));
      prior_.head(model.rows.features.cols()) +=
          value * model.rows.features.row(feature).transpose().cast<double>();
    }
    const bool has_link = model.loss.kind != Loss::squares;
    const Matrix where = has_link ? new_row_factors(model, one_row(row)) : Matrix();
    const Vector precision = step_.prior_variance().cwiseInverse();
    Matrix A = precision.asDiagonal();
    for (Index e = 0; e < shares_.cols(); ++e) {
      const int col = row.cols[std::size_t(e)];
      const RowStep::Column column = step_.column(col);
      const Vector& z = column.factors;
      double weight = row.noise_weight * column.noise_weight / step_.noise_variance(),
             y = (row.values[std::size_t(e)] - model.mean) / model.scale;
      Vector spread = column.variance;
      spread[0] = 0;  // that of c_j is no part of z_j
      if (has_link) {
        weight =
            logistic_weight(model.mean + column.offset + z.dot(step_.in_units(where.row(0).transpose())));
        y = (row.values[std::size_t(e)] - 0.5) / weight - model.mean;
        spread.setZero();
      }
      A += weight * (z * z.transpose());
      A.diagonal() += weight * spread;
      Vector pattern = Vector::Zero(step_.width());
      step_.add_pattern(col, shares_.cols(), pattern);
      shares_.col(e) = weight * (z * (y - column.offset - z.dot(prior_)) - spread.cwiseProduct(prior_)) +
                       precision.cwiseProduct(pattern);
    }
    system_.compute(A);
  }

  /// Effects of all entries on the sum that an entry in this column is, and what is expected of it.
  Vector effects(int col) const { return shares_.transpose() * system_.solve(step_.column(col).factors); }
  double expected(int col) const {
    const RowStep::Column column = step_.column(col);
    return column.offset + column.factors.dot(prior_);
  }

 private:
  RowStep step_;
  Vector prior_;
  Matrix shares_;
  Eigen::LLT<Matrix> system_;
};

}  // namespace

void require_reasons(const CompletionModel& model) {
  if (model.is_implicit() || (model.loss.kind != Loss::squares && model.loss.kind != Loss::bernoulli))
    throw InvalidInput(fmt::format("reasons are known of models of squares and bernoulli, not of {}",
                                   model.is_implicit() ? "implicit feedback" : model.loss.spec()));
}

std::vector<Explanation> explain(const CompletionModel& model, const RowFacts& row,
                                 std::span<const int> targets, Index count) {
  if (count < 0) throw InvalidArgument(fmt::format("{} reasons: must be 0 or more", count));
  for (const int col : targets)
    if (col < 0 || col >= model.column_count())
      throw InvalidArgument(fmt::format("column {}: there are {}", col, model.column_count()));
  require_reasons(model);
  require_new_entries(model, one_row(row));
  const RowSystem system(model, row);
  std::vector<Explanation> result;
  for (const int col : targets) {
    const Vector effects = model.scale * system.effects(col);
    Explanation& each = result.emplace_back();
    each.expected = model.mean + model.scale * system.expected(col);
    for (Index e = 0; e < effects.size(); ++e)
      each.reasons.push_back({row.cols[std::size_t(e)], row.values[std::size_t(e)], effects[e]});
    const auto kept = std::min<std::size_t>(std::size_t(count), each.reasons.size());
    std::partial_sort(each.reasons.begin(), each.reasons.begin() + std::ptrdiff_t(kept), each.reasons.end(),
                      [](const Reason& a, const Reason& b) {
                        const double of_a = std::abs(a.effect), of_b = std::abs(b.effect);
                        return of_a != of_b ? of_a > of_b : a.col < b.col;
                      });
    each.reasons.resize(kept);
  }
  return result;
}

}  // namespace pursuit
