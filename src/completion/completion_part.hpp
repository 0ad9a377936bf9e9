#pragma once
// What ranks have of a completion, and rank 0's hold on it: whatever it does with the entries, all do.

#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "completion/bayesian_factors.hpp"
#include "completion/entry_pool.hpp"
#include "completion/product_sums.hpp"
#include "data/ranked_rows.hpp"
#include "pursuit/data/ranked_entries.hpp"

namespace pursuit {

/// What rank 0 asks about entries.
enum class PoolOrder : std::int64_t {
  split,  // those that were read: `matrix` is their number
  make,   // a pool, of those or, without a number, of what rank 0 has
  domain,
  range,
  mean,
  fingerprint,
  divide,
  hold_back,
  put_back,
  restore,
  release,
  known,
  changes,
  products,  // `result`: of rows 0, of columns 1
  drop
};

/// Of rank 0, or of the one process that there is.
class LedPool {
 public:
  LedPool(ObservedEntries entries, std::vector<float> weights, RankTeam* team, int threads);
  LedPool(RankedEntries entries, RankTeam& team, int threads);
  ~LedPool();
  LedPool(const LedPool&) = delete;
  LedPool& operator=(const LedPool&) = delete;

  const EntryPool& operator*() const { return *pool_; }
  const EntryPool* operator->() const { return &*pool_; }
  BayesianFactors::Data data() const { return {pool_->by_row(), pool_->by_col()}; }

  std::optional<EntryPool::Refused> first_refused(Loss::Kind loss) {
    return all(PoolOrder::domain, [&](EntryPool& pool) { return pool.first_refused(loss); });
  }
  ValueRange range() {
    return all(PoolOrder::range, [](EntryPool& pool) { return pool.range(); });
  }
  WeightedMean mean(double center, int power) {
    return all(PoolOrder::mean, [&](EntryPool& pool) { return pool.mean(center, power); });
  }
  std::uint64_t fingerprint() {
    return all(PoolOrder::fingerprint, [](EntryPool& pool) { return pool.fingerprint(); });
  }
  void divide_by(double unit) {
    all(PoolOrder::divide, [&](EntryPool& pool) { pool.divide_by(unit); });
  }
  void hold_back(double share, std::uint64_t seed) {
    all(PoolOrder::hold_back, [&](EntryPool& pool) { pool.hold_back(share, seed); });
  }
  void put_back() {
    all(PoolOrder::put_back, [](EntryPool& pool) { pool.put_back(); });
  }
  GroupedEntries release_by_row() {
    return all(PoolOrder::release, [](EntryPool& pool) { return pool.release_by_row(); });
  }
  /// What rank 0 has of entries that stay with the ranks, as they came.
  std::shared_ptr<const EntryPool> leave() {
    all(PoolOrder::restore, [](EntryPool& pool) { pool.restore(); });
    return pool_;
  }
  Index count_known(const ObservedEntries& places) {
    return all(PoolOrder::known, [&](EntryPool& pool) { return pool.count_known(places); });
  }
  /// Entries that only one of these and the pool has, and those with another value.
  Index count_changes(const GroupedEntries& old) {
    return all(PoolOrder::changes, [&](EntryPool& pool) { return pool.count_changes(old); });
  }
  /// Of the members of a side.
  std::vector<ProductSums> product_sums(bool of_rows, AlignedVector<float> own, AlignedVector<float> others,
                                        int width, int threads);

 private:
  template <class Work>
  std::invoke_result_t<Work, EntryPool&> all(PoolOrder order, const Work& work, std::int64_t side = 0);
  void make(RankedEntries entries, std::vector<float> weights, int threads);

  RankTeam* team_;
  bool keeps_;
  std::shared_ptr<EntryPool> pool_;
};

template <class Work>
std::invoke_result_t<Work, EntryPool&> LedPool::all(PoolOrder order, const Work& work, std::int64_t side) {
  using Result = std::invoke_result_t<Work, EntryPool&>;
  if (!team_) return work(*pool_);
  const Job job{.order = Order::entries, .columns = std::int64_t(order), .result = side};
  if constexpr (std::is_void_v<Result>) {
    team_->ask(job, [&] { work(*pool_); });
  } else {
    std::optional<Result> answer;
    team_->ask(job, [&] { answer.emplace(work(*pool_)); });
    return std::move(*answer);
  }
}

/// Of a rank that follows.
class CompletionPart {
 public:
  explicit CompletionPart(Ranks& ranks) : ranks_(ranks) {}

  /// Entries that it has read, under a number that rank 0 knows.
  void keep(std::int64_t number, ObservedEntries entries) { read_[number] = std::move(entries); }
  const EntryPool& pool() const { return *pool_; }

  /// Order::entries and Order::complete.
  void follow(const Job& job);

 private:
  void follow_entries(PoolOrder order, const Job& job);

  Ranks& ranks_;
  std::map<std::int64_t, ObservedEntries> read_;
  std::optional<EntryPool> pool_;
  std::optional<BayesianFactors> factors_;
};

}  // namespace pursuit
