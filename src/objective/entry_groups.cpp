#include "objective/entry_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pursuit/base/error.hpp"
#include "pursuit/data/observed_matrix.hpp"

namespace pursuit {
namespace {

StoredEntries entries_of(const DataMatrix& data, const char* what) {
  auto stored = data.stored_entries();
  if (!stored)
    throw InvalidArgument(
        fmt::format("{}: a matrix known by its products alone (centred, a covariance) has no "
                    "entries to look at; only plain squares take it",
                    what));
  return std::move(*stored);
}

StoredEntries listed(const ObservedEntries& data) {
  const ObservedMatrix matrix(data);
  const GroupedEntries& rows = matrix.by_row();
  return {data.rows, data.cols, rows.start, rows.index, {rows.value.begin(), rows.value.end()}};
}

void require_weights(const Vector& weights, Index size, const char* what) {
  if (weights.size() == 0) return;
  if (weights.size() != size)
    throw InvalidInput(
        fmt::format("{} weights: there are {}, but the matrix has {} {}s", what, weights.size(), size, what));
  for (Index i = 0; i < size; ++i)
    if (!(weights[i] >= 0 && std::isfinite(weights[i])))
      throw InvalidInput(
          fmt::format("{} weight {} is {}; weights must be numbers of at least 0", what, i + 1, weights[i]));
}

}  // namespace

EntryGroups::EntryGroups(const DataMatrix& data, const EntryWeights& weights) {
  take(entries_of(data, "loss"), true, weights);
}

EntryGroups::EntryGroups(const ObservedEntries& data, const EntryWeights& weights) {
  take(listed(data), false, weights);
}

EntryGroups::EntryGroups(const ObservedTensor& data) {
  sides_.clear();
  for (Index mode = 0; mode < data.modes(); ++mode) sides_.push_back(groups_along(data, mode));
}

void EntryGroups::take(StoredEntries data, bool others_are_zero, const EntryWeights& weights) {
  require_weights(weights.rows, data.rows, "row");
  require_weights(weights.cols, data.cols, "column");
  factors_[0] = weights.rows;
  factors_[1] = weights.cols;
  ListedGroups& rows = sides_[0];
  spread_ = others_are_zero && !data.is_dense();
  if (weights.entries) {
    // The entries are those that have a weight.
    const StoredEntries w = entries_of(*weights.entries, "entry weights");
    if (w.rows != data.rows || w.cols != data.cols)
      throw InvalidInput(fmt::format("entry weights: a {} x {} matrix; the data are {} x {}", w.rows, w.cols,
                                     data.rows, data.cols));
    StoredEntries kept{data.rows, data.cols, {0}, {}, {}};
    for (Index i = 0; i < data.rows; ++i) {
      auto at = data.start[std::size_t(i)];
      const auto end = data.start[std::size_t(i) + 1];
      for (auto e = w.start[std::size_t(i)]; e < w.start[std::size_t(i) + 1]; ++e) {
        const Index j = w.is_dense() ? e - w.start[std::size_t(i)] : w.index[std::size_t(e)];
        const double weight = w.value[std::size_t(e)];
        if (!(weight >= 0))
          throw InvalidInput(fmt::format("entry weight ({}, {}) is {}; weights must be numbers of at least 0",
                                         i + 1, j + 1, weight));
        if (weight == 0) continue;
        double y = 0;
        if (data.is_dense()) {
          y = data.value[std::size_t(data.start[std::size_t(i)] + j)];
        } else {
          while (at < end && data.index[std::size_t(at)] < j) ++at;
          const bool there = at < end && data.index[std::size_t(at)] == j;
          if (!there && !others_are_zero) continue;
          if (there) y = data.value[std::size_t(at)];
        }
        kept.index.push_back(int(j));
        kept.value.push_back(y);
        rows.weight.push_back(weight);
      }
      kept.start.push_back(Index(kept.value.size()));
    }
    if (kept.value.empty()) throw InvalidInput("entry weights: no entry has a weight above 0");
    if (Index(kept.value.size()) == kept.rows * kept.cols) kept.index.clear();
    spread_ = false;
    data = std::move(kept);
  }
  rows.y = std::move(data);
  sides_[1].y = rows.y.transposed();
  if (!rows.weight.empty()) {
    StoredEntries w = rows.y;
    w.value = rows.weight;
    sides_[1].weight = w.transposed().value;
  }
}

Counts EntryGroups::release() && {
  sides_[1] = {};
  return {std::move(sides_[0].y), spread_, std::move(sides_[0].weight), std::move(factors_[0]),
          std::move(factors_[1])};
}

std::vector<Index> EntryGroups::shape() const {
  std::vector<Index> result;
  for (Index mode = 0; mode < modes(); ++mode) result.push_back(size(mode));
  return result;
}

double EntryGroups::entries() const {
  const StoredEntries& y = sides_[0].y;
  return spread_ ? double(y.rows) * double(y.cols) : double(y.value.size());
}

EntryGroups::Group EntryGroups::group(Index mode, Index g, Scratch& scratch) const {
  const auto& [y, weight, further] = sides_[std::size_t(mode)];
  const auto start = y.start[std::size_t(g)];
  const Index stored = y.count(g), count = spread_ ? y.cols : stored;
  const bool all = spread_ || y.is_dense();
  Group result{{count, all ? nullptr : y.index.data() + start, sides_[std::size_t(mode)].places(start)},
               y.value.data() + start,
               weight.empty() ? nullptr : weight.data() + start};
  if (spread_) {
    scratch.y.assign(std::size_t(count), 0.0);
    for (Index e = 0; e < stored; ++e)
      scratch.y[std::size_t(y.index[std::size_t(start + e)])] = y.value[std::size_t(start + e)];
    result.y = scratch.y.data();
  }
  if (!further.empty()) return result;  // weights of rows and columns are those of matrices
  const Vector &own = factors_[mode], &other = factors_[1 - mode];
  if (own.size() == 0 && other.size() == 0) return result;
  scratch.weight.resize(std::size_t(count));
  for (Index e = 0; e < count; ++e)
    scratch.weight[std::size_t(e)] = (own.size() > 0 ? own[g] : 1.0) *
                                     (other.size() > 0 ? other[all ? e : result.index[e]] : 1.0) *
                                     (result.weight ? result.weight[e] : 1.0);
  result.weight = scratch.weight.data();
  return result;
}

void EntryGroups::require_domain(const Loss& loss) const {
  Scratch scratch;
  for (Index i = 0; i < size(0); ++i) {
    const Group row = group(0, i, scratch);
    for (Index e = 0; e < row.count; ++e)
      if (!loss.accepts(row.y[e]) && (!row.weight || row.weight[e] != 0)) {
        const std::string others = losses_for(row.y[e]);
        throw InvalidInput(
            fmt::format("entry ({}, {}) of the matrix is {}; loss {} takes {}; {} would take it", i + 1,
                        (row.index ? row.index[e] : e) + 1, row.y[e], loss.spec(), loss.domain(), others));
      }
  }
}

}  // namespace pursuit
