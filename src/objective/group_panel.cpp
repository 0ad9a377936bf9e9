#include "objective/group_panel.hpp"

#include <algorithm>
#include <utility>

#include "base/kernel.hpp"
#include "linalg/products.hpp"

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

PURSUIT_KERNEL void predict_listed(const int* places, Index count, const double* rows, Index width,
                                   const double* own, double* x) {
  for (Index e = 0; e < count; ++e) {
    const double* row = rows + places[e] * width;
    double sum = 0;
    for (Index k = 0; k < width; ++k) sum += own[k] * row[k];
    x[e] += sum;
  }
}

PURSUIT_KERNEL void contract_listed(const int* places, Index count, const double* rows, Index width,
                                    const double* factor, double* __restrict sums) {
  for (Index e = 0; e < count; ++e) {
    const double* row = rows + places[e] * width;
    const double own = factor[e];
    for (Index k = 0; k < width; ++k) sums[k] += own * row[k];
  }
}

PURSUIT_KERNEL void gram_listed(const int* places, Index count, const double* rows, Index width,
                                const double* weight, double* __restrict sums) {
  for (Index e = 0; e < count; ++e) {
    const double* row = rows + places[e] * width;
    for (Index k = 0; k < width; ++k) {
      const double own = weight[e] * row[k];
      double* column = sums + k * width;
      for (Index l = 0; l <= k; ++l) column[l] += own * row[l];
    }
  }
}

}  // namespace

GroupPanel::GroupPanel(Matrix columns, bool listed) : columns_(std::move(columns)) {
  if (listed) rows_ = columns_;
}

void GroupPanel::predict(const int* places, Index count, const double* own, double* x) const {
  if (places)
    predict_listed(places, count, rows_.data(), width(), own, x);
  else
    add_columns(columns_.data(), count, width(), own, x);
}

void GroupPanel::contract(const int* places, Index count, const double* factor, double* sums) const {
  std::fill_n(sums, width(), 0.0);
  if (places)
    contract_listed(places, count, rows_.data(), width(), factor, sums);
  else
    for (Index k = 0; k < width(); ++k) sums[k] = dot(columns_.col(k).data(), factor, count);
}

void GroupPanel::gram(const int* places, Index count, const double* weight, Matrix& weighted,
                      Matrix& sums) const {
  sums.setZero(width(), width());
  if (places) {
    gram_listed(places, count, rows_.data(), width(), weight, sums.data());
  } else {
    weighted.resize(count, 1);
    for (Index k = 0; k < width(); ++k) {
      weighted.col(0) = columns_.col(k).cwiseProduct(Eigen::Map<const Vector>(weight, count));
      for (Index l = 0; l <= k; ++l) sums(l, k) = dot(columns_.col(l).data(), weighted.data(), count);
    }
  }
  sums.triangularView<Eigen::StrictlyLower>() = sums.transpose();
}

}  // namespace pursuit
