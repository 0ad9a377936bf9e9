#include "completion/completion_part.hpp"

#include <algorithm>
#include <exception>

#include "completion/random_order.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// All ranks call it, each with entries of its own; what is taken comes to rank 0.
ObservedEntries take_together(Ranks& ranks, ObservedEntries& own, Index count, Index all, std::uint64_t seed,
                              int threads) {
  struct Task {
    Index count, all;
    std::uint64_t seed;
    int threads;
  } task{count, all, seed, threads};
  ranks.broadcast(&task, sizeof task);
  const RandomKeys keys(task.seed);
  const auto key = [&](std::size_t e) { return keys(own.row[e], own.col[e]); };
  const Chunks chunks(own.size(), 1 << 14);
  const RandomBlock bound = key_after(task.all - task.count, task.all, chunks.count(), task.threads, &ranks,
                                      [&](Index chunk, const auto& use) {
                                        for (Index e = chunks.first(chunk); e < chunks.first(chunk + 1); ++e)
                                          use(key(std::size_t(e)));
                                      });
  ObservedEntries taken{own.rows, own.cols, {}, {}, {}};
  std::size_t kept = 0;
  for (std::size_t e = 0; e < own.value.size(); ++e) {
    if (key(e) < bound) {
      own.row[kept] = own.row[e];
      own.col[kept] = own.col[e];
      own.value[kept++] = own.value[e];
      continue;
    }
    taken.row.push_back(own.row[e]);
    taken.col.push_back(own.col[e]);
    taken.value.push_back(own.value[e]);
  }
  own.row.resize(kept);
  own.col.resize(kept);
  own.value.resize(kept);
  taken.row = gather_lists(ranks, taken.row, false);
  taken.col = gather_lists(ranks, taken.col, false);
  taken.value = gather_lists(ranks, taken.value, false);
  return taken;
}

}  // namespace

ObservedEntries take_out(RankTeam& team, RankedEntries& entries, Index count, std::uint64_t seed,
                         int threads) {
  ObservedEntries taken;
  const Job job{.order = Order::entries, .matrix = entries.number, .columns = std::int64_t(PoolOrder::split)};
  team.ask(job, [&] {
    taken = take_together(team.ranks(), entries.own, count, entries.all, seed, resolve_threads(threads));
  });
  entries.all -= count;
  std::vector<std::pair<int, int>> places;
  places.reserve(taken.row.size());
  for (std::size_t e = 0; e < taken.row.size(); ++e) places.emplace_back(taken.row[e], taken.col[e]);
  std::sort(places.begin(), places.end());
  if (entries.explain_twice && std::adjacent_find(places.begin(), places.end()) != places.end())
    entries.explain_twice();
  return taken;
}

LedPool::LedPool(ObservedEntries entries, std::vector<float> weights, RankTeam* team, int threads)
    : team_(team && team->ranks().size() > 1 ? team : nullptr), keeps_(false) {
  make({.own = std::move(entries)}, std::move(weights), threads);
}

LedPool::LedPool(RankedEntries entries, RankTeam& team, int threads)
    : team_(team.ranks().size() > 1 ? &team : nullptr), keeps_(true) {
  make(std::move(entries), {}, threads);
}

void LedPool::make(RankedEntries entries, std::vector<float> weights, int threads) {
  Ranks* ranks = team_ ? &team_->ranks() : nullptr;
  if (!team_) {
    pool_ = std::make_shared<EntryPool>(std::move(entries.own), std::move(weights), ranks, threads);
    return;
  }
  std::exception_ptr refusal;  // all ranks know of it, and are ready for the next job
  const Job job{.order = Order::entries, .matrix = entries.number, .columns = std::int64_t(PoolOrder::make)};
  team_->ask(job, [&] {
    try {
      pool_ = std::make_shared<EntryPool>(std::move(entries.own), std::move(weights), ranks, threads);
    } catch (const InvalidInput&) {
      refusal = std::current_exception();
    }
  });
  if (refusal && entries.explain_twice) entries.explain_twice();
  if (refusal) std::rethrow_exception(refusal);
}

/// What was read stays with the ranks: somebody may want it written.
LedPool::~LedPool() {
  if (!team_ || keeps_ || team_->broken()) return;
  team_->ask({.order = Order::entries, .columns = std::int64_t(PoolOrder::drop)}, [] {});
}

std::vector<ProductSums> LedPool::product_sums(bool of_rows, AlignedVector<float> own,
                                               AlignedVector<float> others, int width, int threads) {
  const auto work = [&](EntryPool& pool) {
    return pursuit::product_sums(of_rows ? *pool.by_row() : *pool.by_col(), team_ ? &team_->ranks() : nullptr,
                                 std::move(own), std::move(others), width, threads);
  };
  return all(PoolOrder::products, work, of_rows ? 0 : 1);
}

void CompletionPart::follow(const Job& job) {
  if (job.order == Order::entries) return follow_entries(PoolOrder(job.columns), job);
  const auto order = SweepOrder(job.columns);
  if (order == SweepOrder::bind)
    factors_.emplace(ranks_, BayesianFactors::Data(pool_->by_row(), pool_->by_col()));
  else
    factors_->follow(order, pool_->held_back().entries);
}

void CompletionPart::follow_entries(PoolOrder order, const Job& job) {
  switch (order) {
    case PoolOrder::split: take_together(ranks_, read_[job.matrix], 0, 0, 0, 1); break;
    case PoolOrder::make:
      factors_.reset();
      pool_.reset();
      try {
        pool_.emplace(std::exchange(read_[job.matrix], {}), std::vector<float>(), &ranks_, 1);
      } catch (const InvalidInput&) {  // of which rank 0 tells
      }
      read_.erase(job.matrix);
      break;
    case PoolOrder::domain: pool_->first_refused(Loss::squares); break;
    case PoolOrder::range: pool_->range(); break;
    case PoolOrder::mean: pool_->mean(0, 0); break;
    case PoolOrder::fingerprint: pool_->fingerprint(); break;
    case PoolOrder::divide: pool_->divide_by(1); break;
    case PoolOrder::hold_back: pool_->hold_back(0, 0); break;
    case PoolOrder::put_back: pool_->put_back(); break;
    case PoolOrder::restore: pool_->restore(); break;
    case PoolOrder::release: pool_->release_by_row(); break;
    case PoolOrder::known: pool_->count_known({}); break;
    case PoolOrder::changes: pool_->count_changes({}); break;
    case PoolOrder::products:
      product_sums(job.result == 0 ? *pool_->by_row() : *pool_->by_col(), &ranks_, {}, {}, 0, 1);
      break;
    case PoolOrder::drop:
      factors_.reset();
      pool_.reset();
      break;
  }
}

}  // namespace pursuit
