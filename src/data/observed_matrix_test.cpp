#include "pursuit/data/observed_matrix.hpp"

#include <algorithm>
#include <map>

#include "test_support.hpp"

namespace pursuit {
namespace {

using Pairs = std::map<std::pair<int, int>, float>;

/// A random share of all positions, in random order.
ObservedEntries random_entries(Index rows, Index cols, double share, std::uint64_t seed) {
  Random random(seed);
  ObservedEntries entries{rows, cols, {}, {}, {}};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      if (random.uniform() < share) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(float(random.gaussian()));
      }
  for (Index e = entries.size(); e-- > 1;) {
    const Index other = random.below(e + 1);
    std::swap(entries.row[e], entries.row[other]);
    std::swap(entries.col[e], entries.col[other]);
    std::swap(entries.value[e], entries.value[other]);
  }
  return entries;
}

Pairs pairs_of(const ObservedEntries& entries) {
  Pairs result;
  for (std::size_t e = 0; e < entries.value.size(); ++e)
    result[{entries.row[e], entries.col[e]}] = entries.value[e];
  return result;
}

/// The entries of a grouping, (row, column) whichever of the two it is grouped by.
Pairs pairs_of(const GroupedEntries& groups, bool by_row) {
  Pairs result;
  for (Index i = 0; i < groups.size(); ++i)
    for (std::int64_t e = groups.start[i]; e < groups.start[i + 1]; ++e)
      result[by_row ? std::pair(int(i), groups.index[e]) : std::pair(groups.index[e], int(i))] =
          groups.value[e];
  return result;
}

bool ascending_within_groups(const GroupedEntries& groups) {
  for (Index i = 0; i < groups.size(); ++i)
    if (!std::is_sorted(groups.index.begin() + groups.start[i], groups.index.begin() + groups.start[i + 1]))
      return false;
  return true;
}

std::string refusal(ObservedEntries entries) {
  return message_of<InvalidInput>([&] { ObservedMatrix matrix(std::move(entries)); });
}

/// Three entries of a 3 x 4 matrix.
ObservedEntries three() {
  return {3, 4, {2, 0, 1}, {3, 1, 0}, {1, 2, 3}};
}

TEST(ObservedMatrix, HoldsTheSameEntriesInBothOrders) {
  std::uint64_t seed = 0;
  for (const auto& [rows, cols] : {std::pair<Index, Index>{30, 20}, {1, 50}, {50, 1}, {40, 70}})
    for (const double share : {0.05, 0.4, 1.0}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols) + ", " + std::to_string(share));
      const ObservedEntries entries = random_entries(rows, cols, share, ++seed);
      const ObservedMatrix matrix(entries);
      EXPECT_EQ(matrix.rows(), rows);
      EXPECT_EQ(matrix.cols(), cols);
      EXPECT_EQ(matrix.size(), entries.size());
      EXPECT_EQ(pairs_of(matrix.by_row(), true), pairs_of(entries));
      EXPECT_EQ(pairs_of(matrix.by_col(), false), pairs_of(entries));
      EXPECT_TRUE(ascending_within_groups(matrix.by_row()));
      EXPECT_TRUE(ascending_within_groups(matrix.by_col()));
    }
}

TEST(ObservedMatrix, KeepsZerosAndGroupsWithoutEntries) {
  const ObservedMatrix matrix({3, 4, {1, 1}, {3, 0}, {0, 2}});
  EXPECT_THAT(matrix.by_row().start, testing::ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(matrix.by_row().index, testing::ElementsAre(0, 3));
  EXPECT_THAT(matrix.by_row().value, testing::ElementsAre(2, 0));
  EXPECT_THAT(matrix.by_col().start, testing::ElementsAre(0, 1, 1, 1, 2));
  EXPECT_EQ(matrix.by_row().count(1), 2);
  EXPECT_EQ(matrix.by_col().count(2), 0);
}

TEST(ObservedMatrix, ReleasesWhatItTookInRowOrder) {
  const ObservedEntries entries = random_entries(25, 35, 0.3, 9);
  ObservedMatrix matrix(entries);
  const ObservedEntries back = matrix.release();
  EXPECT_EQ(back.rows, 25);
  EXPECT_EQ(back.cols, 35);
  EXPECT_EQ(back.size(), entries.size());
  EXPECT_EQ(pairs_of(back), pairs_of(entries));
  EXPECT_TRUE(std::is_sorted(back.row.begin(), back.row.end()));
}

TEST(ObservedMatrix, HandsOverItsRowOrder) {
  const ObservedEntries entries = random_entries(25, 35, 0.3, 10);
  ObservedMatrix matrix(entries);
  const GroupedEntries rows = std::move(matrix).take_by_row();
  EXPECT_EQ(rows.size(), 25);
  EXPECT_EQ(pairs_of(rows, true), pairs_of(entries));
}

TEST(ObservedMatrix, RefusesAnIndexOutsideAndNamesTheEntry) {
  for (const auto& [row, col] : {std::pair{3, 0}, {-1, 0}, {0, 4}, {0, -7}}) {
    ObservedEntries entries = three();
    entries.row[1] = row;
    entries.col[1] = col;
    const std::string message = refusal(entries);
    EXPECT_THAT(message, testing::HasSubstr("entry 1"));
    EXPECT_THAT(message, testing::HasSubstr("(" + std::to_string(row) + ", " + std::to_string(col) + ")"));
    EXPECT_THAT(message, testing::HasSubstr("3 x 4"));
  }
}

TEST(ObservedMatrix, RefusesAValueThatIsNotFiniteAndNamesTheEntry) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    ObservedEntries entries = three();
    entries.value[2] = value;
    const std::string message = refusal(entries);
    EXPECT_THAT(message, testing::HasSubstr("entry 2 at (1, 0)"));
    EXPECT_THAT(message, testing::HasSubstr("not a finite number"));
  }
}

TEST(ObservedMatrix, RefusesAPairThatOccursTwiceAndNamesIt) {
  ObservedEntries entries = three();
  entries.row.push_back(2);
  entries.col.push_back(3);
  entries.value.push_back(1);  // the same value is no excuse
  EXPECT_THAT(refusal(entries), testing::HasSubstr("row 2, column 3 was observed twice"));
}

TEST(ObservedMatrix, RefusesListsThatDoNotFit) {
  EXPECT_THAT(refusal({3, 4, {}, {}, {}}), testing::HasSubstr("there are none"));
  ObservedEntries entries = three();
  entries.row.push_back(0);
  EXPECT_THAT(refusal(entries), testing::HasSubstr("4 rows, 3 columns and 3 values"));
  entries = three();
  entries.col.pop_back();
  EXPECT_THAT(refusal(entries), testing::HasSubstr("3 rows, 2 columns and 3 values"));
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 4}, {3, -1}, {Index(1) << 32, 4}}) {
    entries = three();
    entries.rows = rows;
    entries.cols = cols;
    EXPECT_THAT(refusal(entries), testing::HasSubstr("a " + std::to_string(rows) + " x " +
                                                     std::to_string(cols) + " matrix; sizes must be 1 to"));
  }
}

TEST(MergedEntries, NewOnesWinAndRowsMayBeMore) {
  const GroupedEntries old = ObservedMatrix(ObservedEntries{2, 3, {0, 0, 1}, {0, 2, 1}, {1, 2, 3}}).by_row();
  const ObservedEntries all = merged(old, {4, 3, {3, 0}, {0, 2}, {9, 8}});
  EXPECT_EQ(all.rows, 4);
  EXPECT_THAT(all.row, testing::ElementsAre(3, 0, 0, 1));
  EXPECT_THAT(all.col, testing::ElementsAre(0, 2, 0, 1));
  EXPECT_THAT(all.value, testing::ElementsAre(9, 8, 1, 3));
}

TEST(CountChanges, CountsWhatIsNewGoneOrOfAnotherValue) {
  const auto by_row = [](const ObservedEntries& entries) { return ObservedMatrix(entries).take_by_row(); };
  const GroupedEntries old = by_row({2, 3, {0, 0, 1}, {0, 2, 1}, {1, 2, 3}});
  const auto count_changes = [](const GroupedEntries& before, const GroupedEntries& now) {
    Index in_parts = 0;
    for (const auto& [first, last] : {std::pair(0, 1), {1, 3}, {3, 9}})
      in_parts += pursuit::count_changes(before, now, first, last);
    EXPECT_EQ(in_parts, pursuit::count_changes(before, now, 0, 9));
    return in_parts;
  };
  EXPECT_EQ(count_changes(old, old), 0);
  EXPECT_EQ(count_changes(old, by_row({2, 3, {0, 0, 1}, {0, 2, 1}, {1, 5, 3}})), 1);
  EXPECT_EQ(count_changes(old, by_row({2, 3, {0, 1}, {0, 1}, {1, 3}})), 1);
  EXPECT_EQ(count_changes(old, by_row({4, 4, {0, 0, 1, 3}, {0, 2, 1, 3}, {1, 2, 3, 4}})), 1);
  EXPECT_EQ(count_changes(by_row({4, 4, {3}, {3}, {4}}), old), 4);
}

TEST(ObservedMatrix, IsTheSameForAnyNumberOfThreads) {
  ObservedEntries entries{333, 71, {}, {}, {}};  // in no order, some rows and columns without any
  for (int k = 0; k < 20011; ++k) {
    const int place = int((std::int64_t(k) * 7919) % (333 * 71));
    if (place / 71 == 5 || place % 71 == 9) continue;
    entries.row.push_back(place / 71);
    entries.col.push_back(place % 71);
    entries.value.push_back(float(k));
  }
  const ObservedMatrix one(entries, 1);
  for (const int threads : {2, 3, 16}) {
    const ObservedMatrix many(entries, threads);
    for (const auto& [a, b] : {std::pair(&one.by_row(), &many.by_row()), {&one.by_col(), &many.by_col()}}) {
      EXPECT_EQ(a->start, b->start);
      EXPECT_EQ(a->index, b->index);
      EXPECT_EQ(a->value, b->value);
    }
  }
  ObservedEntries bad = entries;
  bad.value[17003] = NAN;
  bad.col[18111] = 71;
  for (const int threads : {1, 3})
    EXPECT_THAT([&] { require_valid(bad, threads); },
                testing::ThrowsMessage<InvalidInput>(testing::HasSubstr("observed entry 17003")));
}

}  // namespace
}  // namespace pursuit
