#include "completion/structured_loss.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/nonnegative_parts.hpp"
#include "completion/predictor.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {

namespace {

constexpr double kMostDispersion = 1e9;

/// Whether X has the unit of the data, and any of them will do.
bool has_unit_of_data(const Loss& loss) {
  return loss.kind == Loss::squares || loss.kind == Loss::huber || loss.kind == Loss::absolute ||
         loss.kind == Loss::quantile;
}

/// Whether variances are the means themselves.
bool is_of_counts(const Loss& loss) {
  return loss.kind == Loss::poisson || loss.kind == Loss::poisson_log;
}

}  // namespace

void note_signs(const WeightRule& weights, const Atoms& left, const Atoms& right, CompletionModel& model) {
  if (weights.allows_negative()) return;
  const Index rank = model.atoms.rank();
  model.rows.nonnegative = !has_negative_members(left, model.row_count(), rank);
  model.cols.nonnegative = !has_negative_members(right, model.column_count(), rank);
}

double unit_under(const Loss& loss, const ValueRange& values) {
  if (has_unit_of_data(loss)) return unit_of(values);
  const bool scales = is_of_counts(loss) || loss.kind == Loss::gamma || loss.kind == Loss::itakura_saito;
  return scales ? unit_of(values, kFarUnit) : 1.0;
}

double ridge_in_unit(const Loss& loss, double ridge, double unit) {
  switch (loss.kind) {  // factors share the size of X between them, but for log links
    case Loss::squares:
    case Loss::huber:
    case Loss::poisson_log: return ridge / unit;
    case Loss::itakura_saito: return ridge * unit;
    default: return ridge;
  }
}

void leave_unit(double unit, CompletionModel& model) {
  if (model.loss.has_log_link()) {
    if (is_of_counts(model.loss))
      model.noise_variance = std::min(kMostDispersion, unit * model.noise_variance);
    model.mean += std::log(unit);
    return;
  }
  model.mean *= unit;
  model.atoms.weights *= unit;
  // Variances are multiplied by its square. Means that are not negative have nothing else in it.
  if (has_unit_of_data(model.loss)) model.scale *= unit;
  if (is_of_counts(model.loss)) model.scale *= std::sqrt(unit);
}

double unit_of_errors(const Loss& loss, double unit) {
  if (loss.kind == Loss::huber) return unit * unit;
  return loss.kind == Loss::gamma || loss.kind == Loss::itakura_saito ? 1.0 : unit;
}

Loss in_unit(Loss loss, double unit) {
  if (loss.kind == Loss::huber) loss.parameter /= unit;
  return loss;
}

EntryWeights weights_of(const ObservedEntries& weights) {
  if (weights.size() == 0) return {};
  std::vector<Eigen::Triplet<float>> entries;
  for (std::size_t e = 0; e < weights.row.size(); ++e)
    entries.emplace_back(weights.row[e], weights.col[e], weights.value[e]);
  SparseMatrixOf<float> matrix(weights.rows, weights.cols);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return {.entries = data_matrix(std::move(matrix))};
}

void take_terms(const OwnTerms& terms, CompletionModel& model) {
  if (terms.row_offsets.size() > 0) {
    model.rows.mean.col(0) = terms.row_offsets.cast<float>();
    model.cols.mean.col(0) = terms.col_offsets.cast<float>();
  }
  model.own_terms = {.grades = terms.grades, .thresholds = terms.thresholds, .size = terms.size};
}

void average_offsets_of_unseen(CompletionSide& side) {
  double count = 0, sum = 0, squares = 0;
  for (int i = 0; i < int(side.size()); ++i)
    if (has_entries(side, i)) {
      const double offset = side.mean(i, 0);
      count += 1;
      sum += offset;
      squares += offset * offset;
    }
  if (count == 0) return;
  const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean);
  side.intercept[0] = float(mean);
  side.prior_variance[0] = float(variance);
  for (const int i : side.unseen) {
    side.mean(i, 0) = float(mean);
    side.variance(i, 0) = float(variance);
  }
}

double dispersion_of(const CompletionModel& model, const GroupedEntries& seen, double unit) {
  constexpr double kNormal = 1.4826;  // times the median size of a residual is its deviation
  const Loss& loss = model.loss;
  if (loss.kind == Loss::bernoulli || loss.kind == Loss::ordinal || loss.kind == Loss::negative_binomial)
    return 1;
  const bool robust = has_unit_of_data(loss) && loss.kind != Loss::squares;
  const Predictor predictor(model);
  std::vector<double> sizes;
  double squares = 0, variances = 0;
  for (Index i = 0; i < seen.size(); ++i)
    for (auto e = seen.start[std::size_t(i)]; e < seen.start[std::size_t(i) + 1]; ++e) {
      const double x = predictor.linear_mean({int(i), seen.index[std::size_t(e)]});
      const double residual = seen.value[std::size_t(e)] / unit - mean_of(loss, model.own_terms, x);
      if (robust) sizes.push_back(std::abs(residual));
      squares += residual * residual;
      variances += variance_of(loss, model.own_terms, x);
    }
  if (robust && !sizes.empty()) {
    const auto middle = sizes.begin() + std::ptrdiff_t(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return std::min(kMostDispersion, kNormal * kNormal * *middle * *middle);
  }
  return variances > 0 ? std::min(kMostDispersion, squares / variances) : 1.0;
}

}  // namespace pursuit
