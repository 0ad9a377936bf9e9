#include "pursuit/completion/new_rows.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/parallel.hpp"
#include "completion/implicit_atoms.hpp"
#include "completion/new_rows_by_loss.hpp"
#include "completion/predictor.hpp"
#include "completion/row_step.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

Index own_width(const CompletionModel& model) {  // offset and factors
  return model.rows.mean.cols();
}

/// What predictions need of columns: not what their own entries or features said.
CompletionSide for_predictions(const CompletionSide& side) {
  CompletionSide result;
  result.mean = side.mean;
  result.variance = side.variance;
  result.intercept = side.intercept;
  result.prior_variance = side.prior_variance;
  result.noise_weight = side.noise_weight;
  result.selection = side.selection;
  result.unseen = side.unseen;
  result.nonnegative = side.nonnegative;
  return result;
}

Matrix implicit_factors(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  if (model.atoms.rank() > 0) {
    Matrix result = Matrix::Zero(entries.size(), row_width(model));
    result.rightCols(model.atoms.rank()) = implicit_atom_rows(model, entries, threads);
    return result;
  }
  const ImplicitVectors cols(model.cols.mean);
  ImplicitVectors rows(entries.size(), own_width(model) - 1);
  const ImplicitEntries seen(entries, model.implicit.confidence);
  update_implicit_rows(seen, tasks_of(seen), cols, model.implicit, false, threads, rows);
  Matrix result = rows.matrix(own_width(model) - 1).cast<double>();
  for (Index i = 0; i < entries.size(); ++i)
    if (entries.count(i) == 0) result.row(i) = model.rows.intercept.transpose().cast<double>();
  return result;
}

RowStep::Posterior posterior_of(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  require_new_entries(model, entries);
  const int resolved = resolve_threads(threads);
  const bool bounded = model.rows.nonnegative && model.atoms.rank() > 0;
  const bool by_step = model.loss.kind == Loss::squares || (model.loss.kind == Loss::bernoulli && !bounded);
  if (by_step && !model.is_implicit()) return RowStep(model).posterior(entries, resolved);
  Matrix mean = model.is_implicit() ? implicit_factors(model, entries, resolved)
                                    : factors_by_loss(model, entries, resolved);
  return {std::move(mean), Matrix::Zero(entries.size(), row_width(model))};  // which are not known
}

}  // namespace

Index row_width(const CompletionModel& model) {
  return own_width(model) + model.atoms.rank();
}

void require_new_entries(const CompletionModel& model, const GroupedEntries& entries) {
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
  if (!model.is_implicit()) return;
  for (std::size_t e = 0; e < entries.value.size(); ++e)
    if (entries.value[e] < 0)
      throw InvalidInput(fmt::format(
          "new rows: entry {} in column {}; the model is of implicit feedback, which is of numbers of "
          "at least 0",
          entries.value[e], entries.index[e]));
}

Matrix new_row_factors(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  return posterior_of(model, entries, threads).mean;
}

CompletionModel with_new_rows(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  for (Index i = 0; i < entries.size(); ++i)
    if (entries.count(i) == 0)
      throw InvalidInput(fmt::format("new row {} has no entry, which says nothing about it", i));
  const RowStep::Posterior posterior = posterior_of(model, entries, threads);
  const Index own = own_width(model), atoms = model.atoms.rank();
  CompletionModel result;
  result.loss = model.loss;
  result.implicit = model.implicit;
  result.own_terms = model.own_terms;
  result.mean = model.mean;
  result.scale = model.scale;
  result.noise_variance = model.noise_variance;
  result.lowest = model.lowest;
  result.highest = model.highest;
  result.cols = for_predictions(model.cols);
  result.rows.mean = posterior.mean.leftCols(own).cast<float>();
  result.rows.variance = posterior.variance.leftCols(own).cast<float>();
  result.rows.intercept = model.rows.intercept;
  result.rows.prior_variance = model.rows.prior_variance;
  result.rows.noise_weight.assign(std::size_t(entries.size()), 1.0F);
  result.rows.nonnegative = model.rows.nonnegative;
  if (atoms > 0)
    result.atoms = Expansion(posterior.mean.rightCols(atoms), model.atoms.right(), Vector::Ones(atoms));
  return result;
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
