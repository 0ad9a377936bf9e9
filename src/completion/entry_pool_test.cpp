// Entries of one process, and of ranks that share them: the same whatever anybody asks.

#include "completion/entry_pool.hpp"

#include <numeric>

#include "completion/completion_part.hpp"
#include "completion/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"
#include "rank_threads.hpp"

namespace pursuit {
namespace {

/// What a pool has to say, before, while and after entries are held back.
struct Said {
  ValueRange range;
  double mean = 0, square = 0;
  std::uint64_t fingerprint = 0;
  Index size = 0, smaller = 0, known = 0, changed = 0;
  WeightedEntries held;
  GroupedEntries rest_by_row, rest_by_col, all;
};

Said ask(EntryPool& pool, Ranks* ranks, const ObservedEntries& places, const GroupedEntries& old) {
  Said said;
  said.range = pool.range();
  said.mean = pool.mean(0, 1).value();
  said.square = pool.mean(0.5, 2).value();
  said.fingerprint = pool.fingerprint();
  said.size = pool.size();
  said.known = pool.count_known(places);
  said.changed = pool.count_changes(old);
  pool.hold_back(0.2, 7);
  said.held = pool.held_back();
  said.smaller = pool.size();
  const auto whole = [&](bool by_row) {
    return ranks ? pool.whole(by_row) : (by_row ? pool.by_row() : pool.by_col())->entries();
  };
  said.rest_by_row = whole(true);
  said.rest_by_col = whole(false);
  said.all = pool.release_by_row();
  return said;
}

void expect_same(const GroupedEntries& a, const GroupedEntries& b) {
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.value, b.value);
}

/// Every rank has some of the entries, in no order.
ObservedEntries some_of(const ObservedEntries& all, const std::vector<float>& weights, int rank, int size,
                        std::vector<float>& own_weights) {
  ObservedEntries some{rank == 0 ? all.rows : 0, rank == 0 ? all.cols : 0, {}, {}, {}};
  for (std::size_t e = all.value.size(); e-- > 0;) {
    if (int(e * e / 3) % size != rank) continue;
    append(some, all.row[e], all.col[e], all.value[e]);
    if (!weights.empty()) own_weights.push_back(weights[e]);
  }
  return some;
}

TEST(EntryPool, SaysTheSameOnAnyNumberOfRanks) {
  const ObservedEntries entries = planted(90, 60, 2, 0.3, 0.3, 5).train;
  ObservedEntries places;
  for (int k = 0; k < 40; ++k) append(places, k * 2 - 1, k, 0);
  ObservedEntries before = entries;
  before.rows = 70;  // fewer rows than now, and another value
  std::vector<std::size_t> kept;
  ObservedEntries old{70, 60, {}, {}, {}};
  for (std::size_t e = 0; e < entries.value.size(); ++e)
    if (entries.row[e] < 70)
      append(old, entries.row[e], entries.col[e], entries.value[e] + float(e % 9 == 0));
  const GroupedEntries earlier = ObservedMatrix(old).take_by_row();
  for (const bool weighted : {false, true}) {
    std::vector<float> weights;
    for (std::size_t e = 0; weighted && e < entries.value.size(); ++e) weights.push_back(1 + float(e % 4));
    EntryPool alone(entries, weights, nullptr, 1);
    const Said expected = ask(alone, nullptr, places, earlier);
    EXPECT_EQ(expected.size, entries.size());
    EXPECT_EQ(expected.held.size(), entries.size() / 5);
    EXPECT_EQ(expected.smaller + expected.held.size(), expected.size);
    expect_same(expected.all, ObservedMatrix(entries).by_row());
    EXPECT_GT(expected.known, 0);
    EXPECT_GT(expected.changed, 0);
    for (const int size : {2, 3, 5}) {
      on_ranks(size, [&](Ranks& ranks) {
        std::vector<float> own_weights;
        ObservedEntries some = some_of(entries, weights, ranks.rank(), size, own_weights);
        EntryPool pool(std::move(some), own_weights, &ranks, 1 + size % 2);
        const bool leads = ranks.leads();
        const Said said =
            ask(pool, &ranks, leads ? places : ObservedEntries(), leads ? earlier : GroupedEntries());
        EXPECT_EQ(said.range.low, expected.range.low);
        EXPECT_EQ(said.range.high, expected.range.high);
        EXPECT_EQ(said.fingerprint, expected.fingerprint);
        EXPECT_EQ(said.size, expected.size);
        EXPECT_EQ(said.smaller, expected.smaller);
        EXPECT_EQ(said.held.entries.row, expected.held.entries.row);
        EXPECT_EQ(said.held.entries.col, expected.held.entries.col);
        EXPECT_EQ(said.held.entries.value, expected.held.entries.value);
        EXPECT_EQ(said.held.weights.value, expected.held.weights.value);
        EXPECT_EQ(said.mean, expected.mean);
        EXPECT_EQ(said.square, expected.square);
        EXPECT_EQ(said.known, expected.known);
        EXPECT_EQ(said.changed, expected.changed);
        if (!leads) return;
        expect_same(said.rest_by_row, expected.rest_by_row);
        expect_same(said.rest_by_col, expected.rest_by_col);
        expect_same(said.all, expected.all);
      });
    }
  }
}

TEST(EntryPool, AnEntryThatComesTwiceIsRefusedOnAllRanks) {
  ObservedEntries entries = planted(40, 30, 1, 0.3, 0.3, 5).train;
  append(entries, entries.row[17], entries.col[17], 3);
  const std::string expected = message_of<InvalidInput>([&] { EntryPool alone(entries, {}, nullptr, 1); });
  for (const int size : {2, 4})
    on_ranks(size, [&](Ranks& ranks) {
      std::vector<float> none;
      EXPECT_EQ(message_of<InvalidInput>(
                    [&] { EntryPool pool(some_of(entries, {}, ranks.rank(), size, none), {}, &ranks, 1); }),
                expected);
    });
}

TEST(EntryPool, RanksMayBeMoreThanMembers) {
  const ObservedEntries entries = planted(3, 2, 1, 0.3, 0.2, 5).train;
  EntryPool alone(entries, {}, nullptr, 1);
  const std::uint64_t expected = alone.fingerprint();
  on_ranks(7, [&](Ranks& ranks) {
    std::vector<float> none;
    EntryPool pool(some_of(entries, {}, ranks.rank(), 7, none), {}, &ranks, 3);
    EXPECT_EQ(pool.size(), entries.size());
    EXPECT_EQ(pool.fingerprint(), expected);
    const GroupedEntries all = pool.release_by_row();
    if (ranks.leads()) expect_same(all, ObservedMatrix(entries).by_row());
  });
}

TEST(EntryPool, GivesValuesBackInTheUnitThatTheyCameIn) {
  ObservedEntries entries = planted(40, 30, 1, 0.3, 0.3, 5).train;
  entries.value[3] = 1e-40F;  // lost in another unit
  EntryPool pool(entries, {}, nullptr, 1);
  pool.divide_by(0x1p60);
  EXPECT_LT(pool.range().high, 1e-10F);
  pool.hold_back(0.3, 1);
  expect_same(pool.release_by_row(), ObservedMatrix(entries).by_row());
}

}  // namespace
}  // namespace pursuit
