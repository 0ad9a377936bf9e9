#include "pursuit/algorithms/count_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/require.hpp"
#include "linalg/decompositions.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/weights/nonnegative_least_squares.hpp"

namespace pursuit {
namespace {

StoredEntries entries_of(const DataMatrix& counts) {
  auto entries = counts.stored_entries();
  if (!entries)
    throw InvalidArgument("columns: the matrix is known by its products alone; entries are needed");
  return std::move(*entries);
}

Index column_of(const StoredEntries& entries, Index row, std::int64_t k) {
  return entries.is_dense() ? k - entries.start[std::size_t(row)] : Index(entries.index[std::size_t(k)]);
}

/// Calls visit(row, column, value) for every stored entry, row by row.
template <class Visit>
void for_each_entry(const StoredEntries& entries, const Visit& visit) {
  for (Index i = 0; i < entries.rows; ++i)
    for (std::int64_t k = entries.start[std::size_t(i)]; k < entries.start[std::size_t(i) + 1]; ++k)
      visit(i, column_of(entries, i, k), entries.value[std::size_t(k)]);
}

/// What rows are multiplied with to have the same sum; empty rows stay.
Vector to_equal_sums(const StoredEntries& entries, double sum) {
  Vector sums = Vector::Zero(entries.rows);
  for_each_entry(entries, [&](Index i, Index, double value) { sums[i] += value; });
  return sums.unaryExpr([&](double own) { return own > 0 ? sum / own : 0.0; });
}

struct ColumnMoments {
  Vector mean, variance;
};
ColumnMoments moments_of(const StoredEntries& entries, const Vector& row_scale) {
  const auto count = double(entries.rows);
  Vector mean = Vector::Zero(entries.cols), square = mean, stored = mean;
  for_each_entry(entries, [&](Index i, Index j, double value) { mean[j] += row_scale[i] * value / count; });
  for_each_entry(entries, [&](Index i, Index j, double value) {
    const double from_mean = row_scale[i] * value - mean[j];
    square[j] += from_mean * from_mean;
    ++stored[j];
  });
  return {mean, ((square.array() + (count - stored.array()) * mean.array().square()) / count).matrix()};
}

double median(std::vector<double> values) {
  const auto half = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

}  // namespace

std::vector<Index> most_variable_columns(const DataMatrix& counts, Index count) {
  require(count >= 1, fmt::format("columns {}: must be 1 or more", count));
  if (const auto part = counts.negative_part(); part && part->count > 0)
    throw InvalidInput(
        fmt::format("{} entries are negative, down to {:.4g}; counts are not", part->count, part->lowest));
  const StoredEntries entries = entries_of(counts);
  const ColumnMoments m = moments_of(entries, to_equal_sums(entries, double(entries.cols)));
  std::vector<Index> order;  // by mean
  order.reserve(std::size_t(entries.cols));
  for (Index j = 0; j < entries.cols; ++j)
    if (m.mean[j] > 0) order.push_back(j);
  require(count <= Index(order.size()),
          fmt::format("columns {}: {} of the {} columns have counts", count, order.size(), entries.cols));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return m.mean[a] < m.mean[b]; });

  // The variance of counts over their mean, beside its median among the columns of similar mean.
  constexpr std::size_t kNeighbours = 100;
  std::vector<double> dispersion(order.size()), score(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) dispersion[k] = m.variance[order[k]] / m.mean[order[k]];
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t width = std::min(order.size(), 2 * kNeighbours + 1);
    const std::size_t first = std::min(k - std::min(k, kNeighbours), order.size() - width);
    const auto from = dispersion.begin() + std::ptrdiff_t(first);
    const double usual = median(std::vector<double>(from, from + std::ptrdiff_t(width)));
    score[k] = usual > 0 ? dispersion[k] / usual : dispersion[k];
  }
  std::vector<std::size_t> best(order.size());
  std::iota(best.begin(), best.end(), std::size_t{0});
  std::stable_sort(best.begin(), best.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  std::vector<Index> columns;
  columns.reserve(std::size_t(count));
  for (Index k = 0; k < count; ++k) columns.push_back(order[best[std::size_t(k)]]);
  std::sort(columns.begin(), columns.end());
  return columns;
}

ChosenColumns chosen_columns(const DataMatrix& counts, const ColumnChoice& choice,
                             const std::vector<std::string>& names, int threads) {
  const StoredEntries entries = entries_of(counts);
  std::vector<Index> columns = choice.columns;
  if (columns.empty()) {
    columns.resize(std::size_t(entries.cols));
    std::iota(columns.begin(), columns.end(), Index{0});
  }
  std::vector<Index> place(std::size_t(entries.cols), -1);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    require(columns[k] >= 0 && columns[k] < entries.cols,
            fmt::format("column {}: the matrix has {}, counted from 0", columns[k], entries.cols));
    place[std::size_t(columns[k])] = Index(k);
  }
  Vector scale = Vector::Ones(Index(columns.size())), deviations(0);
  if (choice.unit_variance) {
    const ColumnMoments m = moments_of(entries, Vector::Ones(entries.rows));
    std::vector<std::string> constant;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const Index j = columns[k];
      if (m.variance[j] > 0)
        scale[Index(k)] = 1 / std::sqrt(m.variance[j]);
      else
        constant.push_back(names.empty() ? fmt::format("column {}", j + 1) : names[std::size_t(j)]);
    }
    if (!constant.empty()) {
      constexpr std::size_t kNamed = 20;
      const std::size_t shown = std::min(kNamed, constant.size());
      throw InvalidInput(
          fmt::format("{} columns are constant, and cannot be scaled to unit variance: {}{}", constant.size(),
                      fmt::join(constant.begin(), constant.begin() + std::ptrdiff_t(shown), ", "),
                      shown < constant.size() ? ", ..." : ""));
    }
    deviations = scale.cwiseInverse();
  }
  if (entries.is_dense()) {
    Matrix dense(entries.rows, Index(columns.size()));
    for_each_entry(entries, [&](Index i, Index j, double value) {
      if (const Index to = place[std::size_t(j)]; to >= 0) dense(i, to) = scale[to] * value;
    });
    return {data_matrix(std::move(dense), threads), std::move(deviations)};
  }
  SparseMatrix sparse(entries.rows, Index(columns.size()));
  Eigen::VectorXi counts_of_rows = Eigen::VectorXi::Zero(entries.rows);
  for_each_entry(entries, [&](Index i, Index j, double) { counts_of_rows[i] += place[std::size_t(j)] >= 0; });
  sparse.reserve(counts_of_rows);
  // Columns ascend where they were chosen ascending; insert() sorts them otherwise.
  for_each_entry(entries, [&](Index i, Index j, double value) {
    if (const Index to = place[std::size_t(j)]; to >= 0) sparse.insert(i, to) = scale[to] * value;
  });
  sparse.makeCompressed();
  return {data_matrix(std::move(sparse), threads), std::move(deviations)};
}

ColumnProfiles column_profiles(const DataMatrix& counts, const Matrix& usages, int threads) {
  require(usages.rows() == counts.rows(),
          fmt::format("usages of {} rows do not fit {} rows of data", usages.rows(), counts.rows()));
  const StoredEntries entries = entries_of(counts);
  constexpr double kMillion = 1e6;
  const Vector row_scale = to_equal_sums(entries, kMillion);
  Matrix products;  // columns x parts
  counts.apply_transposed(row_scale.asDiagonal() * usages, products);
  const Matrix gram = usages.transpose() * usages;
  ColumnProfiles result;
  result.per_million = nonnegative_least_squares(gram, products, threads);

  const ColumnMoments m = moments_of(entries, row_scale);
  const Vector sums = usages.colwise().sum();
  Matrix standard = products - m.mean * sums.transpose();
  for (Index j = 0; j < standard.rows(); ++j)
    standard.row(j) *= m.variance[j] > 0 ? 1 / std::sqrt(m.variance[j]) : 0.0;
  // Parts that are used nowhere, or always together, share what there is: the least squares of least norm.
  result.scores = least_squares(gram, standard.transpose()).transpose();
  return result;
}

}  // namespace pursuit
