#include "objective/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/chunks.hpp"
#include "base/work.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {
namespace {

constexpr Index kCountRowWork = 8;       // of a row beside its entries, in entries
constexpr Index kCountPieceWork = 4096;  // at least
constexpr Index kMostCountPieces = 256;
constexpr double kModelFloor = 1e-10;  // of the mean: what the model has where no atom is
constexpr int kRowPasses = 4;  // of coordinate descent, for each of which the quadratic is worth the making

double factor_of(const Vector& factors, Index i) {
  return factors.size() > 0 ? factors[i] : 1.0;
}

void require_count(double y, Index i, Index j) {
  if (!Loss(Loss::poisson).accepts(y))
    throw InvalidInput(
        fmt::format("entry ({}, {}) of the matrix is {}; loss poisson takes {}; {} would take it", i + 1,
                    j + 1, y, Loss(Loss::poisson).domain(), losses_for(y)));
}

}  // namespace

RowPanel::RowPanel(const Panel& columns, int threads)
    : rank_(columns.cols()),
      stride_((columns.cols() + 3) / 4 * 4),
      numbers_(std::size_t(columns.rows() * stride_), 0.0) {
  const Chunks chunks(columns.rows(), 256);
  parallel_for(chunks.count(), threads_for(double(columns.size()), threads), [&](Index c) {
    for (Index i = chunks.first(c); i < chunks.first(c + 1); ++i)
      for (Index k = 0; k < rank_; ++k) numbers_[std::size_t(i * stride_ + k)] = columns(i, k);
  });
}

CountTable::CountTable(Counts counts, const Vector& row_scale, int threads) : threads_(threads) {
  StoredEntries& y = counts.entries;
  separates_ = counts.weights.empty() && (counts.others_are_zero || y.is_dense());
  StoredEntries kept{y.rows, y.cols, {0}, {}, {}};
  kept.index.reserve(y.value.size());
  kept.value.reserve(y.value.size());
  std::vector<double> exposed, row_multipliers, col_multipliers;
  double exposure = 0, col_exposure = 0;
  for (Index j = 0; j < y.cols; ++j) {
    col_multipliers.push_back(factor_of(counts.col_weights, j));
    col_exposure += col_multipliers.back();
  }
  for (Index i = 0; i < y.rows; ++i) {
    const double row_weight = factor_of(counts.row_weights, i), scale = factor_of(row_scale, i);
    for (auto e = y.start[std::size_t(i)]; e < y.start[std::size_t(i) + 1]; ++e) {
      const Index j = y.is_dense() ? e - y.start[std::size_t(i)] : y.index[std::size_t(e)];
      const double weight = row_weight * col_multipliers[std::size_t(j)] *
                            (counts.weights.empty() ? 1.0 : counts.weights[std::size_t(e)]);
      if (weight == 0) continue;
      const double count = y.value[std::size_t(e)], counted = weight * count;
      require_count(count, i, j);
      if (count > 0) {
        total_ += counted;
        constant_ += counted * (std::log(count) - std::log(scale) - 1);
      }
      if (separates_ && count == 0) continue;
      kept.index.push_back(int(j));
      kept.value.push_back(counted);
      if (separates_) continue;
      exposed.push_back(weight * scale);
      exposure += weight * scale;
    }
    kept.start.push_back(std::int64_t(kept.index.size()));
    row_multipliers.push_back(row_weight * scale);
    if (separates_) exposure += row_weight * scale * col_exposure;
  }
  y = {};
  if (!std::isfinite(total_) || !std::isfinite(constant_) || !std::isfinite(exposure))
    throw InvalidInput("the sum of the counts overflows; divide them by a large number first");
  const double mean = exposure > 0 ? total_ / exposure : 0.0;
  floor_ = mean > 0 ? kModelFloor * mean : 1.0;
  null_value_ = total_ > 0 ? std::max(0.0, constant_ + total_ - total_ * std::log(mean)) : 0.0;
  sides_[1].y = kept.transposed();
  if (separates_) {
    sides_[0].multiplier = std::move(row_multipliers);
    sides_[1].multiplier = std::move(col_multipliers);
  } else {
    std::swap(kept.value, exposed);
    sides_[1].exposed = kept.transposed().value;
    std::swap(kept.value, exposed);
    sides_[0].exposed = std::move(exposed);
  }
  sides_[0].y = std::move(kept);
  for (Side& side : sides_) {  // pieces of about equal work, which the data alone decide
    const auto work = [&](Index i) { return side.y.start[std::size_t(i)] + kCountRowWork * i; };
    const Index rows = side.y.rows,
                pieces = std::clamp<Index>(work(rows) / kCountPieceWork, 1, kMostCountPieces);
    side.cuts.push_back(0);
    for (Index i = 1; i < rows; ++i)
      if (work(i) >= work(rows) / pieces * Index(side.cuts.size())) side.cuts.push_back(i);
    side.cuts.push_back(rows);
  }
}

CountRow CountTable::row(Index mode, Index i) const {
  const Side& side = sides_[mode];
  const auto first = std::size_t(side.y.start[std::size_t(i)]);
  return {side.y.index.data() + first, side.y.value.data() + first,
          separates_ ? nullptr : side.exposed.data() + first, side.y.count(i)};
}

Vector CountTable::weighted_sums(Index mode, const Panel& X) const {
  if (!separates_) return Vector::Zero(X.cols());
  const Eigen::Map<const Vector> multiplier(sides_[mode].multiplier.data(), X.rows());
  return chunked_sum<Vector>(Chunks(X.rows(), 2048), threads_for(double(X.size()), threads_),
                             [&](Index first, Index count) -> Vector {
                               return X.middleRows(first, count).transpose() *
                                      multiplier.segment(first, count);
                             });
}

double CountTable::sweep(Index mode, const Panel& other, const RowSweep& options, Panel& X) const {
  const Index rank = X.cols();
  const RowPanel rows(other, threads_);
  const Vector background = weighted_sums(1 - mode, other);
  const RowDescent descent{rows.rows(),   floor_,     options.l1,   options.l2,
                           options.first, kRowPasses, options.value};
  std::vector<double> parts(std::size_t(pieces(mode)), 0.0);
  for_rows(mode, [&](Index piece, Index i) {
    thread_local RowNewton newton;
    thread_local std::vector<double> own;
    own.resize(std::size_t(rank));
    for (Index k = 0; k < rank; ++k) own[std::size_t(k)] = X(i, k);
    parts[std::size_t(piece)] +=
        newton.descend(row(mode, i), descent, background.data(), multiplier(mode, i), own.data());
    for (Index k = options.first; k < rank; ++k) X(i, k) = own[std::size_t(k)];
  });
  if (!options.value) return 0;
  tree_sum(parts, [](double& into, double part) { into += part; });
  return std::max(0.0, constant_ + parts.front() + weighted_sums(mode, X).dot(background));
}

double CountTable::value(Index mode, const Panel& X, const Panel& other, double* x) const {
  const Index rank = X.cols();
  const RowPanel rows(other, threads_);
  const RowDescent descent{rows.rows(), floor_};
  std::vector<double> parts(std::size_t(pieces(mode)), 0.0);
  for_rows(mode, [&](Index piece, Index i) {
    thread_local RowNewton newton;
    thread_local std::vector<double> own;
    own.resize(std::size_t(rank));
    for (Index k = 0; k < rank; ++k) own[std::size_t(k)] = X(i, k);
    parts[std::size_t(piece)] +=
        newton.costs(row(mode, i), descent, own.data(), x ? x + first_entry(mode, i) : nullptr);
  });
  tree_sum(parts, [](double& into, double part) { into += part; });
  const double paid = rank > 0 ? weighted_sums(mode, X).dot(weighted_sums(1 - mode, other)) : 0.0;
  return std::max(0.0, constant_ + parts.front() + paid);
}

}  // namespace pursuit
