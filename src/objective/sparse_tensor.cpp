#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/aligned.hpp"
#include "base/chunks.hpp"
#include "base/kernel.hpp"
#include "base/packs.hpp"
#include "objective/listed_tensor.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {
namespace {

/// The entries grouped along one mode, those of a group in the order of the other modes.
struct FiberEntries {
  std::vector<Index> start;             // of the groups; one more than there are
  std::vector<std::vector<int>> other;  // indices of the other modes, in their order
  std::vector<double> value;
};

constexpr Index kStep = 4;        // columns of factors are padded to a multiple of this many
constexpr Index kMostWidth = 16;  // columns that are summed in registers at once

/// sum[c] = sum_e value_e prod_m rows_m[other_m[e]][c] over so many columns, for so many other modes.
template <Index kWidth>
PURSUIT_INLINE void sum_products(const int* const* other, const double* const* factor, Index others,
                                 const double* value, Index count, Index stride, double* sum) {
  double own[kWidth] = {};
  if (others == 2) {
    for (Index e = 0; e < count; ++e) {
      const double* a = factor[0] + other[0][e] * stride;
      const double* b = factor[1] + other[1][e] * stride;
      const double y = value[e];
      for (Index c = 0; c < kWidth; ++c) own[c] += y * a[c] * b[c];
    }
  } else {
    for (Index e = 0; e < count; ++e) {
      double term[kWidth];
      for (Index c = 0; c < kWidth; ++c) term[c] = value[e];
      for (Index m = 0; m < others; ++m) {
        const double* row = factor[m] + other[m][e] * stride;
        for (Index c = 0; c < kWidth; ++c) term[c] *= row[c];
      }
      for (Index c = 0; c < kWidth; ++c) own[c] += term[c];
    }
  }
  for (Index c = 0; c < kWidth; ++c) sum[c] = own[c];
}

PURSUIT_KERNEL void sum_fiber(const int* const* other, const double* const* factor, Index others,
                              const double* value, Index count, Index stride, double* sum) {
  const double* shifted[kMostModes];
  for (Index first = 0; first < stride; first += kMostWidth) {
    for (Index m = 0; m < others; ++m) shifted[m] = factor[m] + first;
    switch (std::min(kMostWidth, stride - first)) {
      case 4: sum_products<4>(other, shifted, others, value, count, stride, sum + first); break;
      case 8: sum_products<8>(other, shifted, others, value, count, stride, sum + first); break;
      case 12: sum_products<12>(other, shifted, others, value, count, stride, sum + first); break;
      default: sum_products<16>(other, shifted, others, value, count, stride, sum + first); break;
    }
  }
}

/// By rows, padded with zeros to the stride.
AlignedVector<double> by_rows(const Panel& factor, Index stride) {
  AlignedVector<double> rows(std::size_t(factor.rows() * stride), 0.0);
  for (Index k = 0; k < factor.cols(); ++k)
    for (Index i = 0; i < factor.rows(); ++i) rows[std::size_t(i * stride + k)] = factor(i, k);
  return rows;
}

void check(const SparseTensor& t) {
  if (t.index.size() != t.shape.size())
    throw InvalidArgument(fmt::format("a sparse array of {} modes needs as many lists of indices, not {}",
                                      t.shape.size(), t.index.size()));
  for (std::size_t m = 0; m < t.shape.size(); ++m) {
    if (t.index[m].size() != t.value.size())
      throw InvalidArgument(
          fmt::format("mode {} has {} indices for {} values", m, t.index[m].size(), t.value.size()));
    for (std::size_t e = 0; e < t.value.size(); ++e)
      if (t.index[m][e] < 0 || Index(t.index[m][e]) >= t.shape[m])
        throw InvalidInput(fmt::format("entry {}: index {} of mode {} lies outside 0..{}", e + 1,
                                       t.index[m][e], m, t.shape[m] - 1));
  }
  for (std::size_t e = 0; e < t.value.size(); ++e)
    if (!std::isfinite(t.value[e]))
      throw InvalidInput(fmt::format("entry {} is {}: values must be finite", e + 1, t.value[e]));
}

}  // namespace

/// By counting, mode by mode.
std::vector<Index> sorted_order(const SparseTensor& t, Index first_mode) {
  const std::size_t count = t.value.size();
  std::vector<Index> order(count), next(count);
  std::iota(order.begin(), order.end(), Index(0));
  std::vector<Index> start;
  const auto sort_by = [&](std::size_t m) {
    start.assign(std::size_t(t.shape[m]) + 1, 0);
    for (const int i : t.index[m]) ++start[std::size_t(i) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    for (const Index e : order) next[std::size_t(start[std::size_t(t.index[m][std::size_t(e)])]++)] = e;
    order.swap(next);
  };
  for (std::size_t m = t.shape.size(); m-- > 0;)
    if (Index(m) != first_mode) sort_by(m);
  sort_by(std::size_t(first_mode));
  return order;
}

namespace {

FiberEntries along(const SparseTensor& t, Index mode) {
  const std::vector<Index> order = sorted_order(t, mode);
  const std::vector<int>& own = t.index[std::size_t(mode)];
  FiberEntries result;
  result.start.assign(std::size_t(t.shape[std::size_t(mode)]) + 1, 0);
  for (const int i : own) ++result.start[std::size_t(i) + 1];
  std::partial_sum(result.start.begin(), result.start.end(), result.start.begin());
  for (std::size_t m = 0; m < t.shape.size(); ++m) {
    if (Index(m) == mode) continue;
    std::vector<int>& list = result.other.emplace_back();
    list.reserve(order.size());
    for (const Index e : order) list.push_back(t.index[m][std::size_t(e)]);
  }
  result.value.reserve(order.size());
  for (const Index e : order) result.value.push_back(t.value[std::size_t(e)]);
  return result;
}

class SparseTensorTarget final : public TensorTarget {
 public:
  SparseTensorTarget(const SparseTensor& t, int threads) : threads_(threads) {
    check(t);
    if (const auto twice = find_same_place(t))
      throw InvalidInput(
          fmt::format("entries {} and {} are the same place", twice->first + 1, twice->second + 1));
    for (Index m = 0; m < Index(t.shape.size()); ++m) {
      axes_.emplace_back(t.shape[std::size_t(m)], threads);
      entries_.push_back(along(t, m));
    }
    measure();
  }

  Index modes() const override { return Index(axes_.size()); }
  const Axis& axis(Index mode) const override { return axes_[std::size_t(mode)]; }

  void contract(Index mode, const Factors& z, Panel& out) const override {
    const Index others = modes() - 1, columns = z.count(), stride = (columns + kStep - 1) / kStep * kStep;
    std::vector<AlignedVector<double>> rows;
    std::vector<const double*> factor;
    for (Index m = 0; m < modes(); ++m)
      if (m != mode) rows.push_back(by_rows(z[m], stride));
    factor.reserve(rows.size());
    for (const auto& list : rows) factor.push_back(list.data());
    const FiberEntries& entries = entries_[std::size_t(mode)];
    const Index size = axis(mode).size();
    out.resize(size, columns);
    const Chunks chunks(size, 16, 1024);
    parallel_for(chunks.count(), threads_, [&](Index chunk) {
      AlignedVector<double> sum(static_cast<std::size_t>(stride));
      const int* other[kMostModes];
      for (Index i = chunks.first(chunk); i < chunks.first(chunk + 1); ++i) {
        const Index start = entries.start[std::size_t(i)];
        for (Index m = 0; m < others; ++m) other[m] = entries.other[std::size_t(m)].data() + start;
        sum_fiber(other, factor.data(), others, entries.value.data() + start,
                  entries.start[std::size_t(i) + 1] - start, stride, sum.data());
        for (Index k = 0; k < columns; ++k) out(i, k) = sum[std::size_t(k)];
      }
    });
  }

  SparseTensor entries() const {
    const FiberEntries& rows = entries_[0];
    SparseTensor result{{}, {{}}, rows.value};
    for (const Axis& each : axes_) result.shape.push_back(each.size());
    for (Index i = 0; i < axis(0).size(); ++i)
      result.index[0].insert(result.index[0].end(),
                             std::size_t(rows.start[std::size_t(i) + 1] - rows.start[std::size_t(i)]),
                             int(i));
    result.index.insert(result.index.end(), rows.other.begin(), rows.other.end());
    return result;
  }

  double squared_norm() const override { return squared_norm_; }
  std::optional<double> squared_distance(const Expansion&) const override { return std::nullopt; }
  double contraction_work() const override {  // gathers are slower than streams
    return 2.0 * double(modes()) * double(entries_[0].value.size());
  }

  TargetPtr compressed(Index, Random&) const override { return nullptr; }
  double largest_magnitude() const override {
    double largest = 0;
    for (const double value : entries_[0].value) largest = std::max(largest, std::abs(value));
    return largest;
  }
  TensorPtr scaled(double power_of_two) const override {
    auto copy = std::make_shared<SparseTensorTarget>(*this);
    for (FiberEntries& list : copy->entries_)
      for (double& value : list.value) value *= power_of_two;
    copy->measure();
    return copy;
  }

 private:
  void measure() {
    const Chunks chunks(Index(entries_[0].value.size()), 4096);
    const Eigen::Map<const Vector> values(entries_[0].value.data(), Index(entries_[0].value.size()));
    squared_norm_ = chunked_sum<double>(chunks, threads_, [&](Index first, Index count) {
      return values.segment(first, count).squaredNorm();
    });
  }

  int threads_;
  std::vector<Axis> axes_;
  std::vector<FiberEntries> entries_;  // of every mode
  double squared_norm_ = 0;
};

}  // namespace

void require_entries(const SparseTensor& entries) {
  check(entries);
}

std::optional<SparseTensor> entries_of(const Target& target) {
  const auto* sparse = dynamic_cast<const SparseTensorTarget*>(&target);
  return sparse ? std::optional(sparse->entries()) : std::nullopt;
}

std::optional<std::pair<std::size_t, std::size_t>> find_same_place(const SparseTensor& entries) {
  const std::vector<Index> order = sorted_order(entries, 0);
  for (std::size_t e = 1; e < order.size(); ++e) {
    const auto a = std::size_t(order[e - 1]), b = std::size_t(order[e]);
    if (std::all_of(entries.index.begin(), entries.index.end(),
                    [&](const std::vector<int>& list) { return list[a] == list[b]; }))
      return std::pair(a, b);
  }
  return std::nullopt;
}

TensorPtr sparse_tensor(const SparseTensor& entries, int threads) {
  return std::make_shared<SparseTensorTarget>(entries, threads);
}

}  // namespace pursuit
