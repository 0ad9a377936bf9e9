#include "completion/entry_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "completion/random_order.hpp"
#include "data/dealt_entries.hpp"
#include "data/list_edits.hpp"
#include "data/mailing.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"

namespace pursuit {
namespace {

/// Where the entries of members begin that have so many each.
std::vector<std::int64_t> starts_of(std::vector<std::int64_t> counts) {
  counts.push_back(0);
  std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), std::int64_t(0));
  return counts;
}

/// Of the entries of all ranks.
std::vector<std::int64_t> counts_of(const std::vector<int>& member, Index members, Ranks& ranks) {
  std::vector<std::int64_t> counts(std::size_t(members), 0);
  for (const int i : member) ++counts[std::size_t(i)];
  add_up(ranks, counts);
  return counts;
}

template <class Value>
Value from_leader(Ranks* ranks, Value value) {
  if (ranks) ranks->broadcast(&value, sizeof value);
  return value;
}

}  // namespace

EntryPool::EntryPool(ObservedEntries some, std::vector<float> weights, Ranks* ranks, int threads)
    : ranks_(ranks && ranks->size() > 1 ? ranks : nullptr), threads_(threads) {
  static std::atomic<std::uint64_t> pools = 0;
  number_ = from_leader(ranks_, ++pools);
  weighted_ = from_leader(ranks_, !weights.empty());
  if (ranks_)
    share_out(std::move(some), std::move(weights));
  else
    group_all(std::move(some), std::move(weights));
  bind();
}

void EntryPool::group_all(ObservedEntries entries, std::vector<float> weights) {
  if (weighted_) {
    ObservedEntries weighted{entries.rows, entries.cols, entries.row, entries.col, std::move(weights)};
    auto [by_row, by_col] = ObservedMatrix(std::move(weighted), threads_).take();
    sides_[0].weights = std::move(by_row.value);
    sides_[1].weights = std::move(by_col.value);
  }
  std::tie(sides_[0].own, sides_[1].own) = ObservedMatrix(std::move(entries), threads_).take();
  for (Side& side : sides_) {
    side.start = side.own.start;
    shares_.push_back(MemberShares::by_entries(side.start, nullptr));
  }
}

void EntryPool::share_out(ObservedEntries some, std::vector<float> weights) {
  some.rows = from_leader(ranks_, some.rows);
  some.cols = from_leader(ranks_, some.cols);
  threads_ = from_leader(ranks_, threads_);
  sides_[0].start = starts_of(counts_of(some.row, some.rows, *ranks_));
  sides_[1].start = starts_of(counts_of(some.col, some.cols, *ranks_));
  for (const Side& side : sides_) shares_.push_back(MemberShares::by_entries(side.start, ranks_));
  ObservedEntries own{some.rows, some.cols, {}, {}, {}};
  {
    const Mailing to_rows(*ranks_, some.row, shares_[0].first_members(), threads_);
    own.row = to_rows.send(some.row);
    own.col = to_rows.send(some.col);
    own.value = to_rows.send(some.value);
    if (weighted_) weights = to_rows.send(weights);
  }
  some = {};
  group_own(0, std::move(own), weights);
  require_once();
  // From there to the owners of columns: what comes is ascending by row.
  std::vector<int> row(sides_[0].own.index.size());
  for (Index i = shares_[0].first(); i < shares_[0].last(); ++i)
    std::fill(row.begin() + sides_[0].own.start[std::size_t(i)],
              row.begin() + sides_[0].own.start[std::size_t(i) + 1], int(i));
  const Mailing to_cols(*ranks_, sides_[0].own.index, shares_[1].first_members(), threads_);
  own = {cols(), rows(), to_cols.send(sides_[0].own.index), to_cols.send(row), {}};
  row = std::vector<int>();  // {} would keep its memory
  own.value = to_cols.send(sides_[0].own.value);
  group_own(1, std::move(own), weighted_ ? to_cols.send(sides_[0].weights) : weights);
}

/// Of entries whose rows are this rank's own, or its columns in the place of rows: by all members, the others
/// having none.
void EntryPool::group_own(int number, ObservedEntries entries, const std::vector<float>& weights) {
  const MemberShares& shares = shares_[std::size_t(number)];
  const Index first = shares.first(), members = entries.rows;
  entries.rows = shares.last() - first;
  for (int& i : entries.row) i -= int(first);
  const auto grouped = [&] {
    GroupedEntries groups = grouped_in_order(entries, threads_);
    sort_groups(groups, threads_);
    return groups;
  };
  GroupedEntries& own = sides_[number].own;
  own = grouped();
  if (weighted_) {
    entries.value = weights;
    sides_[number].weights = grouped().value;
  }
  own.start.insert(own.start.begin(), std::size_t(first), 0);
  own.start.resize(std::size_t(members) + 1, std::int64_t(own.index.size()));
}

void EntryPool::require_once() const {
  std::array<std::int64_t, 2> twice{-1, -1};
  std::tie(twice[0], twice[1]) = first_repeated(sides_[0].own, threads_);
  const std::vector<std::byte> all = gather(*ranks_, twice.data(), sizeof twice, true);
  for (int rank = 0; rank < ranks_->size(); ++rank) {  // their rows ascend
    std::memcpy(twice.data(), all.data() + std::size_t(rank) * sizeof twice, sizeof twice);
    if (twice[0] >= 0)
      throw InvalidInput(
          fmt::format("the entry at row {}, column {} was observed twice", twice[0], twice[1]));
  }
}

void EntryPool::bind() {
  for (const std::size_t k : {std::size_t(0), std::size_t(1)}) {
    Side& side = sides_[k];
    side.tasks =
        std::make_shared<EntryTasks>(side.own, weighted_ ? &side.weights : nullptr, shares_[k], &side.start);
  }
}

template <class Use>
void EntryPool::for_own_rows(Index first, Index last, const Use& use) const {
  const GroupedEntries& own = sides_[0].own;
  const std::vector<float>& weights = sides_[0].weights;
  for (Index i = first; i < last; ++i)
    for (std::int64_t e = own.start[i]; e < own.start[i + 1]; ++e)
      use(i, own.index[e], own.value[e], weighted_ ? weights[e] : 1.0F);
}

ValueRange EntryPool::range() const {
  ValueRange range;
  if (!sides_[0].own.value.empty()) range = range_of(sides_[0].own.value, threads_);
  if (!ranks_) return range;
  const std::vector<std::byte> all = gather(*ranks_, &range, sizeof range, true);
  for (int rank = 0; rank < ranks_->size(); ++rank) {
    ValueRange theirs;
    std::memcpy(&theirs, all.data() + std::size_t(rank) * sizeof theirs, sizeof theirs);
    range += theirs;
  }
  return range;
}

std::optional<EntryPool::Refused> EntryPool::first_refused(Loss::Kind kind) const {
  const Loss loss(from_leader(ranks_, kind));
  std::vector<Refused> first;
  for_own_rows(shares_[0].first(), shares_[0].last(), [&](Index i, int j, float value, float) {
    if (first.empty() && !loss.accepts(value)) first.push_back({int(i), j, value});
  });
  if (ranks_) first = gather_lists(*ranks_, first);  // rows of ranks ascend
  if (first.empty()) return std::nullopt;
  return first.front();
}

WeightedMean EntryPool::mean(double center, int power) const {
  center = from_leader(ranks_, center);
  power = from_leader(ranks_, power);
  const Vector sums = sum_over(shares_[0], 2, threads_, [&](Index first, Index last, double* sum) {
    for_own_rows(first, last, [&](Index, int, float value, float weight) {
      const double distance = value - center;
      sum[0] += double(weight) * (power == 1 ? distance : distance * distance);
      sum[1] += double(weight);
    });
  });
  return {sums[0], sums[1]};
}

std::uint64_t EntryPool::fingerprint() const {
  std::atomic<std::uint64_t> sum = 0;  // modulo 2^64, in any order
  shares_[0].for_own(threads_, [&](Index first, Index last) {
    std::uint64_t part = 0;
    for_own_rows(first, last, [&](Index i, int j, float value, float weight) {
      const std::uint64_t numbers =
          std::uint64_t(std::bit_cast<std::uint32_t>(value)) << 32 | std::bit_cast<std::uint32_t>(weight);
      part += random_block(numbers, std::uint64_t(i), std::uint64_t(j)).first;
    });
    sum += part;
  });
  if (!ranks_) return sum;
  std::uint64_t of_all = 0;
  for (const std::uint64_t part : gather_lists(*ranks_, std::vector<std::uint64_t>{sum})) of_all += part;
  return of_all;
}

void EntryPool::divide_by(double unit) {
  unit = from_leader(ranks_, unit);
  original_ = sides_[0].own.value;
  for (Side& side : sides_) divide(side.own.value, unit);
}

void EntryPool::hold_back(double share, std::uint64_t seed) {
  const Index count = from_leader(ranks_, count_held_back(size(), share));
  const RandomKeys key(from_leader(ranks_, seed));
  if (count == 0) return;
  const Index first_chunk = shares_[0].first_chunk(shares_[0].rank()),
              chunks = shares_[0].first_chunk(shares_[0].rank() + 1) - first_chunk;
  const auto for_rows_of = [&](Index task, const auto& use) {
    const auto at = std::size_t(first_chunk + task);
    for_own_rows(shares_[0].cuts()[at], shares_[0].cuts()[at + 1], use);
  };
  const RandomBlock bound =
      key_after(count, size(), chunks, threads_, ranks_, [&](Index task, const auto& use) {
        for_rows_of(task, [&](Index i, int j, float, float) { use(key(int(i), j)); });
      });
  struct Entry {
    int row, col;
    float value, weight;
  };
  std::vector<std::vector<Entry>> found(static_cast<std::size_t>(chunks));
  parallel_for(chunks, threads_, [&](Index task) {
    for_rows_of(task, [&](Index i, int j, float value, float weight) {
      if (key(int(i), j) < bound) found[std::size_t(task)].push_back({int(i), j, value, weight});
    });
  });
  std::vector<Entry> held;
  for (const auto& of_task : found) held.insert(held.end(), of_task.begin(), of_task.end());
  if (ranks_) held = gather_lists(*ranks_, held);  // rows of ranks ascend
  ObservedEntries& entries = held_.entries;
  entries.rows = rows();
  entries.cols = cols();
  for (const Entry& entry : held) {
    entries.row.push_back(entry.row);
    entries.col.push_back(entry.col);
    entries.value.push_back(entry.value);
    if (weighted_) held_.weights.value.push_back(entry.weight);
  }
  if (weighted_)
    held_.weights = {entries.rows, entries.cols, entries.row, entries.col, std::move(held_.weights.value)};
  for (const int side : {0, 1}) edit(side, true);
  bind();
}

void EntryPool::put_back() {
  for (const int side : {0, 1}) edit(side, false);
  held_ = {};
  bind();
}

/// Takes the entries held back out of a side, or puts them there.
void EntryPool::edit(int number, bool takes_out) {
  GroupedEntries& own = sides_[number].own;
  const ObservedEntries& held = held_.entries;
  const std::vector<int>&member = number == 0 ? held.row : held.col,
        &other = number == 0 ? held.col : held.row;
  std::vector<std::size_t> order(member.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  if (number == 1)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return member[a] < member[b]; });
  const MemberShares& shares = shares_[std::size_t(number)];
  const auto is_own = [&](std::size_t k) { return member[k] >= shares.first() && member[k] < shares.last(); };
  std::vector<std::int64_t> places;
  std::vector<int> index;
  std::vector<float> value, weight;
  for (const std::size_t k : order) {
    if (!is_own(k)) continue;
    const auto first = own.index.begin() + own.start[std::size_t(member[k])],
               last = own.index.begin() + own.start[std::size_t(member[k]) + 1];
    places.push_back(std::lower_bound(first, last, other[k]) - own.index.begin());
    index.push_back(other[k]);
    value.push_back(held.value[k]);
    if (weighted_) weight.push_back(held_.weights.value[k]);
  }
  const auto change = [&]<class Number>(std::vector<Number>& list, const std::vector<Number>& numbers) {
    if (takes_out)
      erase_at(list, places, threads_);
    else
      insert_at(list, places, std::span<const Number>(numbers), threads_);
  };
  change(own.index, index);
  change(own.value, value);
  if (weighted_) change(sides_[number].weights, weight);
  const auto move_starts = [&](std::vector<std::int64_t>& starts, const auto& counts) {
    std::int64_t moved = 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts[i] += moved;
      for (; next < order.size() && std::size_t(member[order[next]]) == i; ++next)
        if (counts(order[next])) moved += takes_out ? -1 : 1;
    }
  };
  move_starts(own.start, is_own);
  move_starts(sides_[number].start, [](std::size_t) { return true; });
}

void EntryPool::restore() {
  if (held_.size() > 0) put_back();
  if (!original_.empty()) sides_[0].own.value = std::exchange(original_, {});
}

GroupedEntries EntryPool::release_by_row() {
  restore();
  return ranks_ ? whole(true) : std::move(sides_[0].own);
}

GroupedEntries EntryPool::whole(bool by_row) const {
  const std::size_t k = by_row ? 0 : 1;
  return gather_groups(*ranks_, sides_[k].own, sides_[k].start, shares_[k].first_members());
}

Index EntryPool::count_changes(const GroupedEntries& old) const {
  const MemberShares& shares = shares_[0];
  GroupedEntries in_old_unit;
  if (!original_.empty()) in_old_unit = {sides_[0].own.start, sides_[0].own.index, original_};
  const GroupedEntries& now = original_.empty() ? sides_[0].own : in_old_unit;
  if (!ranks_) return pursuit::count_changes(old, now, 0, rows());
  std::vector<Index> ends = shares.first_members();
  const Index known = from_leader(ranks_, old.size());
  for (Index& end : ends) end = std::min(end, known);
  const DealtEntries dealt = deal_groups(*ranks_, ranks_->leads() ? &old : nullptr, nullptr, ends);
  std::vector<std::int64_t> count(1, 0);
  count[0] =
      pursuit::count_changes(ranks_->leads() ? old : dealt.entries, now, shares.first(), shares.last());
  add_up(*ranks_, count);
  return Index(count[0]);
}

Index EntryPool::count_known(const ObservedEntries& places) const {
  const GroupedEntries& own = sides_[0].own;
  std::vector<int> row = places.row, col = places.col;
  if (ranks_) {
    tell_all(*ranks_, row);
    tell_all(*ranks_, col);
  }
  std::vector<std::int64_t> count(1, 0);
  for (std::size_t e = 0; e < row.size(); ++e)
    if (const int i = row[e]; i >= 0 && i < rows())
      count[0] += std::binary_search(own.index.begin() + own.start[std::size_t(i)],
                                     own.index.begin() + own.start[std::size_t(i) + 1], col[e]);
  if (ranks_) add_up(*ranks_, count);
  return Index(count[0]);
}

}  // namespace pursuit
