#include "completion/newcomers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/aligned.hpp"
#include "base/kernel.hpp"
#include "completion/bayesian_factors.hpp"

namespace pursuit {
namespace {

constexpr int kRegressionSteps = 40;
constexpr double kSmallestTau = 1e-8;

/// Of one side: what is said of members by other things than their entries.
struct Newcomers {
  Eigen::VectorXf mean, variance;   // of a member without features
  FactorMatrix by_features;         // of all members, or empty
  Eigen::VectorXf featured_spread;  // around by_features
  std::vector<char> has_features;

  const float* of(Index i) const { return featured(i) ? by_features.row(i).data() : mean.data(); }
  const float* variance_of(Index i) const { return featured(i) ? featured_spread.data() : variance.data(); }
  bool featured(Index i) const { return !has_features.empty() && has_features[std::size_t(i)] != 0; }
};

/// Mean and variance over the entries of the member behind each.
void find_average(const CompletionSide& side, const EntryTasks& entries, int threads, Newcomers& newcomers) {
  const Index width = side.mean.cols();
  const double count = double(entries.count_all());
  const Vector mean = sum_over_members(side.size(), width, threads,
                                       [&](Index i, double* sum) {
                                         for (Index c = 0; c < width; ++c)
                                           sum[c] += double(entries.count(i)) * side.mean(i, c);
                                       }) /
                      count;
  const Vector variance =
      sum_over_members(side.size(), width, threads,
                       [&](Index i, double* sum) {
                         for (Index c = 0; c < width; ++c) {
                           const double d = side.mean(i, c) - mean[c];
                           sum[c] += double(entries.count(i)) * (d * d + double(side.variance(i, c)));
                         }
                       }) /
      count;
  newcomers.mean = mean.cast<float>();
  newcomers.variance = variance.cast<float>();
}

/// The same with a regression on features: members weigh as much as they have entries, by way of the square
/// roots of these weights on both sides of the equations.
void regress(const CompletionSide& side, const EntryTasks& entries, const ScaledFeatures& features,
             int threads, Newcomers& newcomers) {
  const Index members = side.size(), used = side.mean.cols();
  const int width = padded_width(int(used));
  double with_entries = 0;
  for (Index i = 0; i < members; ++i) with_entries += entries.count(i) > 0 ? 1 : 0;
  std::vector<float> weight(std::size_t(members), 0.0F);  // its root
  for (Index i = 0; i < members; ++i)
    weight[i] = float(std::sqrt(double(entries.count(i)) * with_entries / double(entries.count_all())));

  GroupedEntries by_member = features.by_member(), by_feature = features.by_feature();
  newcomers.has_features.assign(std::size_t(members), 0);
  for (Index i = 0; i < members; ++i)
    for (std::int64_t e = by_member.start[i]; e < by_member.start[i + 1]; ++e) {
      newcomers.has_features[i] = 1;
      by_member.value[e] *= weight[i];
    }
  for (std::size_t e = 0; e < by_feature.index.size(); ++e)
    by_feature.value[e] *= weight[std::size_t(by_feature.index[e])];
  PriorRegression regression(
      {std::make_shared<EntryTasks>(by_feature), std::make_shared<EntryTasks>(by_member), {}}, width,
      threads);

  std::vector<double> tau(std::size_t(width), kSmallestTau);
  Vector intercept = Vector::Zero(width);
  for (Index c = 0; c < used; ++c) {
    intercept[c] = newcomers.mean[c];
    tau[c] = std::max<double>(kSmallestTau, newcomers.variance[c]);
  }
  AlignedVector<float> deviation(std::size_t(members * width), 0.0F);
  for (Index i = 0; i < members; ++i)
    for (Index c = 0; c < used; ++c)
      deviation[i * width + c] = weight[i] * float(side.mean(i, c) - intercept[c]);
  for (int step = 0; step < kRegressionSteps; ++step) {
    const std::vector<double> spread = regression.improve(tau, threads, deviation);
    const Vector shift = sum_over_members(members, width, threads,
                                          [&](Index i, double* sum) {
                                            for (Index c = 0; c < used; ++c)
                                              sum[c] += double(weight[i]) * deviation[i * width + c];
                                          }) /
                         with_entries;
    intercept += shift;
    const Vector squares = sum_over_members(members, width, threads, [&](Index i, double* sum) {
      for (Index c = 0; c < used; ++c) {
        float& d = deviation[i * width + c];
        d -= weight[i] * float(shift[c]);
        sum[c] += double(d) * d + double(weight[i]) * weight[i] * side.variance(i, c);
      }
    });
    for (Index c = 0; c < used; ++c)
      tau[c] = std::max(kSmallestTau, (squares[c] + spread[std::size_t(c)]) / with_entries);
  }

  newcomers.featured_spread.resize(used);
  for (Index c = 0; c < used; ++c) newcomers.featured_spread[c] = float(tau[std::size_t(c)]);
  newcomers.by_features.resize(members, used);
  const GroupedEntries& table = features.by_member();
  for (Index i = 0; i < members; ++i) {
    Vector said = intercept.head(used);
    for (std::int64_t e = table.start[i]; e < table.start[i + 1]; ++e)
      for (Index c = 0; c < used; ++c)
        said[c] += double(table.value[e]) * regression.weights()[table.index[e] * width + c];
    newcomers.by_features.row(i) = said.cast<float>();
  }
}

Newcomers newcomers_of(const CompletionSide& side, const EntryTasks& entries,
                       const std::optional<ScaledFeatures>& features, int threads) {
  Newcomers result;
  find_average(side, entries, threads, result);
  if (features) regress(side, entries, *features, threads, result);
  return result;
}

/// By how much, over the entries of all members, the others behind them are better than newcomers are to the
/// member; and for every member what it has more of that, as far as its entries are enough to tell.
struct Selection {
  double mean = 0;
  std::vector<float> deviation;
};

/// Rows of a multiple of eight numbers.
AlignedVector<float> padded(const CompletionSide& side, Index width, const auto& number) {
  AlignedVector<float> result(std::size_t(side.size() * width), 0.0F);
  for (Index i = 0; i < side.size(); ++i)
    for (Index c = 0; c < side.mean.cols(); ++c) result[i * width + c] = number(i, c);
  return result;
}

Selection selection_of(const CompletionSide& side, const EntryTasks& entries, const CompletionSide& others,
                       const Newcomers& newcomers, const Products& products, int threads) {
  const Index members = side.size(), width = (side.mean.cols() + 7) / 8 * 8;
  AlignedVector<float> better =
      padded(others, width, [&](Index j, Index c) { return others.mean(j, c) - newcomers.of(j)[c]; });
  AlignedVector<float> own =
      padded(side, width, [&](Index i, Index c) { return c == 0 ? 1.0F : side.mean(i, c); });
  const std::vector<ProductSums> of_entries =
      products(entries, std::move(own), std::move(better), int(width));
  std::vector<double> mean(std::size_t(members), 0.0);
  enum { total, within, freedom, numbers };
  const Vector sums = sum_over_members(members, numbers, threads, [&](Index i, double* sum) {
    const double count = double(entries.count(i));
    if (count == 0) return;
    const auto [first, squares] = of_entries[std::size_t(i)];
    mean[std::size_t(i)] = first / count;
    sum[total] += first;
    sum[within] += std::max(0.0, squares - first * first / count);
    sum[freedom] += count - 1;
  });
  Selection result{sums[total] / double(entries.count_all()), std::vector<float>(std::size_t(members), 0.0F)};
  if (sums[freedom] == 0) return result;
  const double variance = sums[within] / sums[freedom];
  const Vector between = sum_over_members(members, 2, threads, [&](Index i, double* sum) {
    const double count = double(entries.count(i));
    if (count == 0) return;
    sum[0] += std::pow(mean[std::size_t(i)] - result.mean, 2) - variance / count;
    sum[1] += 1;
  });
  const double spread = std::max(0.0, between[0] / between[1]);
  if (spread == 0) return result;
  for (Index i = 0; i < members; ++i)
    if (const double count = double(entries.count(i)); count > 0)
      result.deviation[i] =
          float((mean[std::size_t(i)] - result.mean) * spread / (spread + variance / count));
  return result;
}

void settle(CompletionSide& side, const Newcomers& newcomers) {
  side.base_intercept = std::move(side.intercept);
  side.base_variance = std::move(side.prior_variance);
  side.intercept = newcomers.mean;
  side.prior_variance = newcomers.variance;
  const Index width = side.mean.cols();
  for (const int i : side.unseen) {
    std::copy_n(newcomers.of(i), width, side.mean.row(i).data());
    std::copy_n(newcomers.variance_of(i), width, side.variance.row(i).data());
  }
}

}  // namespace

void place_by_features(CompletionSide& side, const GroupedEntries& entries, const ScaledFeatures& features,
                       int threads) {
  const Newcomers newcomers = newcomers_of(side, EntryTasks(entries), features, threads);
  for (Index i = 0; i < side.size(); ++i) {
    if (entries.count(i) > 0 || !newcomers.featured(i)) continue;
    std::copy_n(newcomers.of(i), side.mean.cols(), side.mean.row(i).data());
    std::copy_n(newcomers.variance_of(i), side.mean.cols(), side.variance.row(i).data());
  }
}

void add_newcomers(CompletionModel& model, const EntryTasks& by_row, const EntryTasks& by_col,
                   const std::optional<ScaledFeatures>& row_features,
                   const std::optional<ScaledFeatures>& col_features, const Products& products, int threads) {
  note_unseen(model, by_row.start_of_all(), by_col.start_of_all());
  const Newcomers rows = newcomers_of(model.rows, by_row, row_features, threads);
  const Newcomers cols = newcomers_of(model.cols, by_col, col_features, threads);
  Selection by_rows = selection_of(model.rows, by_row, model.cols, cols, products, threads);
  Selection by_cols = selection_of(model.cols, by_col, model.rows, rows, products, threads);
  settle(model.rows, rows);
  settle(model.cols, cols);
  model.rows.selection = std::move(by_rows.deviation);
  model.cols.selection = std::move(by_cols.deviation);
  // What all rows have of it is a part of the offset of columns that are new, so that it counts for rows that
  // are new as well; what all columns have goes with each column.
  model.cols.intercept[0] += float(by_rows.mean);
  for (const int j : model.cols.unseen) model.cols.mean(j, 0) += float(by_rows.mean);
  for (Index j = 0; j < model.cols.size(); ++j)
    if (by_col.count(j) > 0) model.cols.selection[std::size_t(j)] += float(by_cols.mean);
}

}  // namespace pursuit
