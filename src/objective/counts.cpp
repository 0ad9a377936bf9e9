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

CountTable::CountTable(Counts counts, const Vector& row_scale, int threads) : threads_(threads), sides_(2) {
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
  settle(exposure);
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
  for (Side& side : sides_) cut(side);
}

CountTable::CountTable(const ObservedTensor& counts, int threads)
    : threads_(threads), separates_(counts.others_are_zero && counts.weights.empty()) {
  double exposure = 1;
  for (Index mode = 0; mode < counts.modes(); ++mode) {
    ListedGroups groups = groups_along(counts, mode);
    if (mode == 0) {
      if (!separates_) exposure = 0;
      for (std::size_t e = 0; e < groups.y.value.size(); ++e) {
        const double count = groups.y.value[e], weight = groups.weight.empty() ? 1.0 : groups.weight[e];
        if (count > 0) {
          total_ += weight * count;
          constant_ += weight * count * (std::log(count) - 1);
        }
        if (!separates_) exposure += weight;
      }
    }
    if (separates_) exposure *= double(groups.y.rows);
    Side& side = sides_.emplace_back();
    side.y = std::move(groups.y);
    side.further = std::move(groups.further);
    if (separates_) {
      side.multiplier.assign(std::size_t(side.y.rows), 1.0);
    } else {
      side.exposed = groups.weight.empty() ? std::vector<double>(side.y.value.size(), 1.0) : groups.weight;
      for (std::size_t e = 0; e < groups.weight.size(); ++e) side.y.value[e] *= groups.weight[e];
    }
    cut(side);
  }
  settle(exposure);
}

/// What follows from the sums.
void CountTable::settle(double exposure) {
  if (!std::isfinite(total_) || !std::isfinite(constant_) || !std::isfinite(exposure))
    throw InvalidInput("the sum of the counts overflows; divide them by a large number first");
  const double mean = exposure > 0 ? total_ / exposure : 0.0;
  floor_ = mean > 0 ? kModelFloor * mean : 1.0;
  null_value_ = total_ > 0 ? std::max(0.0, constant_ + total_ - total_ * std::log(mean)) : 0.0;
}

/// Pieces of about equal work, which the data alone decide.
void CountTable::cut(Side& side) {
  const auto work = [&](Index i) { return side.y.start[std::size_t(i)] + kCountRowWork * i; };
  const Index rows = side.y.rows,
              pieces = std::clamp<Index>(work(rows) / kCountPieceWork, 1, kMostCountPieces);
  side.cuts.push_back(0);
  for (Index i = 1; i < rows; ++i)
    if (work(i) >= work(rows) / pieces * Index(side.cuts.size())) side.cuts.push_back(i);
  side.cuts.push_back(rows);
}

CountRow CountTable::row(Index mode, Index i) const {
  const Side& side = sides_[std::size_t(mode)];
  const auto first = std::size_t(side.y.start[std::size_t(i)]);
  FurtherPlaces places = {};
  for (std::size_t m = 0; m < side.further.size(); ++m) places[m] = side.further[m].data() + first;
  return {side.y.index.data() + first, side.y.value.data() + first,
          separates_ ? nullptr : side.exposed.data() + first, side.y.count(i), places};
}

Vector CountTable::weighted_sums(Index mode, const Panel& X) const {
  if (!separates_) return Vector::Zero(X.cols());
  const Eigen::Map<const Vector> multiplier(sides_[std::size_t(mode)].multiplier.data(), X.rows());
  return chunked_sum<Vector>(Chunks(X.rows(), 2048), threads_for(double(X.size()), threads_),
                             [&](Index first, Index count) -> Vector {
                               return X.middleRows(first, count).transpose() *
                                      multiplier.segment(first, count);
                             });
}

Vector CountTable::background(Index mode, const Factors& z) const {
  Vector product = Vector::Constant(z.count(), separates_ ? 1.0 : 0.0);
  for (Index other = 0; separates_ && other < modes(); ++other)
    if (other != mode) product = product.cwiseProduct(weighted_sums(other, z[other]));
  return product;
}

double CountTable::sweep(Index mode, const Factors& at, const RowSweep& options, Panel& X) const {
  const Index rank = X.cols();
  const RowPanel rows(at, mode, threads_);
  const Vector background = this->background(mode, at);
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

double CountTable::value(Index mode, const Panel& X, const Factors& at, double* x) const {
  const Index rank = X.cols();
  const RowPanel rows(at, mode, threads_);
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
  const double paid = rank > 0 ? weighted_sums(mode, X).dot(background(mode, at)) : 0.0;
  return std::max(0.0, constant_ + parts.front() + paid);
}

}  // namespace pursuit
