#include "objective/group_panel.hpp"

#include <algorithm>
#include <utility>

#include "base/kernel.hpp"
#include "objective/panel_gram.hpp"

namespace pursuit {
namespace {

PURSUIT_KERNEL void add_columns(const double* columns, Index rows, Index width, const double* own,
                                double* __restrict x) {
  Index k = 0;
  for (; k + 4 <= width; k += 4) {
    const double *a = columns + k * rows, *b = a + rows, *c = b + rows, *d = c + rows;
    const double wa = own[k], wb = own[k + 1], wc = own[k + 2], wd = own[k + 3];
    for (Index j = 0; j < rows; ++j) x[j] += (wa * a[j] + wb * b[j]) + (wc * c[j] + wd * d[j]);
  }
  for (; k < width; ++k) {
    const double* a = columns + k * rows;
    const double weight = own[k];
    for (Index j = 0; j < rows; ++j) x[j] += weight * a[j];
  }
}

constexpr Index kSums = 8;  // run side by side

PURSUIT_KERNEL double dot(const double* a, const double* b, Index count) {
  double sums[kSums] = {};
  Index j = 0;
  for (; j + kSums <= count; j += kSums)
    for (Index l = 0; l < kSums; ++l) sums[l] += a[j + l] * b[j + l];
  for (; j < count; ++j) sums[0] += a[j] * b[j];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

constexpr Index kGathered = 64;  // rows whose products are taken together

/// Memory of a thread for rows that are gathered.
double* gathering(Index numbers) {
  thread_local AlignedVector<double> memory;
  if (Index(memory.size()) < numbers) memory.resize(std::size_t(numbers));
  return memory.data();
}

/// Rows of one number.
PURSUIT_KERNEL void predict_single(const FactorRows& rows, const Places& places, double own, double* x) {
  double scratch = 0;
  for (Index e = 0; e < places.count; ++e)
    x[e] += own * *row_at(rows, places.index, places.further, e, &scratch);
}
/// sum_e factor_e row_e, and with the squares of rows.
PURSUIT_KERNEL double sum_single(const FactorRows& rows, const Places& places, const double* factor,
                                 bool squared) {
  double sums[kSums] = {}, scratch = 0;
  for (Index e = 0; e < places.count; ++e) {
    const double row = *row_at(rows, places.index, places.further, e, &scratch);
    sums[e % kSums] += factor[e] * (squared ? row * row : row);
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// `own` is as long as a row, and a row of memory follows it.
PURSUIT_KERNEL void predict_listed(const FactorRows& rows, const Places& places, double* own, double* x) {
  double* scratch = own + rows.stride;
  for (Index e = 0; e < places.count; ++e) {
    const double* row = row_at(rows, places.index, places.further, e, scratch);
    EightDoubles sum = {};
    for (Index k = 0; k < rows.stride; k += kGramLanes) sum += eight(own + k) * eight(row + k);
    x[e] += ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

/// Sums are as long as a row, and a row of memory follows them.
PURSUIT_KERNEL void contract_listed(const FactorRows& rows, const Places& places, const double* factor,
                                    double* sums) {
  double* scratch = sums + rows.stride;
  for (Index e = 0; e < places.count; ++e) {
    const double* row = row_at(rows, places.index, places.further, e, scratch);
    const double own = factor[e];
    for (Index k = 0; k < rows.stride; k += kGramLanes) eight(sums + k) += own * eight(row + k);
  }
}

/// Memory for kGathered rows and as many weighted ones follows the sums.
PURSUIT_KERNEL void gram_listed(const FactorRows& rows, const Places& places, const double* weight,
                                double* sums) {
  const Index stride = rows.stride;
  double *panel = sums + stride * stride, *weighted = panel + kGathered * stride;
  for (Index first = 0; first < places.count; first += kGathered) {
    const Index count = std::min(kGathered, places.count - first);
    for (Index e = 0; e < count; ++e) {
      const double* row = row_at(rows, places.index, places.further, first + e, panel + e * stride);
      const double own = weight[first + e];
      for (Index k = 0; k < stride; k += kGramLanes) {
        const EightDoubles numbers = eight(row + k);
        eight(panel + e * stride + k) = numbers;
        eight(weighted + e * stride + k) = own * numbers;
      }
    }
    add_panel_gram(weighted, panel, count, stride, sums);
  }
}

}  // namespace

GroupPanel::GroupPanel(Matrix columns, bool listed) : width_(columns.cols()) {
  if (listed)
    rows_.emplace(columns, 1, width_ == 1 ? 1 : kGramLanes);
  else
    columns_ = std::move(columns);
}

GroupPanel::GroupPanel(const Factors& z, Index mode, bool listed) : width_(z.count()) {
  if (listed)
    rows_.emplace(z, mode, 1, width_ == 1 ? 1 : kGramLanes);
  else
    columns_ = z[1 - mode];
}

void GroupPanel::predict(const Places& places, const double* own, double* x) const {
  if (!places.index) return add_columns(columns_.data(), places.count, width_, own, x);
  const FactorRows rows = rows_->rows();
  if (rows.stride == 1) return predict_single(rows, places, own[0], x);
  double* padded = gathering(2 * rows.stride);
  std::fill_n(std::copy_n(own, width_, padded), rows.stride - width_, 0.0);
  predict_listed(rows, places, padded, x);
}

void GroupPanel::contract(const Places& places, const double* factor, double* sums) const {
  if (!places.index) {
    for (Index k = 0; k < width_; ++k) sums[k] = dot(columns_.col(k).data(), factor, places.count);
    return;
  }
  const FactorRows rows = rows_->rows();
  if (rows.stride == 1) {
    sums[0] = sum_single(rows, places, factor, false);
    return;
  }
  double* padded = gathering(2 * rows.stride);
  std::fill_n(padded, rows.stride, 0.0);
  contract_listed(rows, places, factor, padded);
  std::copy_n(padded, width_, sums);
}

void GroupPanel::gram(const Places& places, const double* weight, Matrix& weighted, Matrix& sums) const {
  sums.resize(width_, width_);
  if (places.index) {
    const FactorRows rows = rows_->rows();
    if (rows.stride == 1) {
      sums(0, 0) = sum_single(rows, places, weight, true);
      return;
    }
    double* padded = gathering((rows.stride + 2 * kGathered) * rows.stride);
    std::fill_n(padded, rows.stride * rows.stride, 0.0);
    gram_listed(rows, places, weight, padded);
    for (Index k = 0; k < width_; ++k)
      for (Index l = 0; l <= k; ++l) sums(l, k) = padded[l * rows.stride + k];
  } else {
    weighted.resize(places.count, 1);
    for (Index k = 0; k < width_; ++k) {
      weighted.col(0) = columns_.col(k).cwiseProduct(Eigen::Map<const Vector>(weight, places.count));
      for (Index l = 0; l <= k; ++l) sums(l, k) = dot(columns_.col(l).data(), weighted.data(), places.count);
    }
  }
  sums.triangularView<Eigen::StrictlyLower>() = sums.transpose();
}

}  // namespace pursuit
