#include "pursuit/completion/recommend.hpp"

#include "completion/test_support.hpp"
#include "pursuit/completion/structured.hpp"

namespace pursuit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int> columns(const std::vector<Recommendation>& list) {
  std::vector<int> result;
  for (const Recommendation& each : list) result.push_back(each.col);
  return result;
}

/// One row, and columns with these offsets.
CompletionModel columns_of(const std::vector<float>& offsets, Range range) {
  CompletionModel model;
  model.lowest = range.lowest;
  model.highest = range.highest;
  model.rows = plain_side(1);
  model.cols = plain_side(Index(offsets.size()));
  std::copy(offsets.begin(), offsets.end(), model.cols.mean.data());
  return model;
}

TEST(Recommend, RanksBeforeItClipsAndLeavesOutWhatItShould) {
  const CompletionModel model = columns_of({1, 7, 3, 9, 3, -2}, {0, 5});
  EXPECT_THAT(columns(recommend(model, 0, 3)), ElementsAre(3, 1, 2));
  EXPECT_THAT(columns(recommend(model, 0, 99)), ElementsAre(3, 1, 2, 4, 0, 5)) << "ties by column";
  EXPECT_THAT(columns(recommend(model, 0, 3, std::vector{1, 2})), ElementsAre(3, 4, 0));
  EXPECT_TRUE(recommend(model, 0, 0).empty());
  const auto all = recommend(model, 0, 99);
  EXPECT_EQ(all.front().prediction.value, 5);
  EXPECT_EQ(all.back().prediction.value, 0);
  const ObservedMatrix seen({1, 6, {0, 0}, {3, 5}, {1, 1}});
  const auto lists = Recommender(model).of_rows(0, 1, 2, &seen.by_row(), 2);
  ASSERT_EQ(lists.size(), 1U);
  EXPECT_THAT(columns(lists[0]), ElementsAre(1, 2));
}

/// More rows and columns than fit into one block of scores, for every kind of model.
TEST(Recommender, GivesManyRowsTheListsOfEachAlone) {
  Planted data = planted(150, 1500, 2, 0.3, 0.05, 23);
  data.train.rows = 152;  // of the last two rows nothing is known
  data.train.cols = 1503;
  const ObservedMatrix seen(data.train);
  for (const CompletionModel& model :
       {complete(data.train).model, complete(data.train, {.samples = 4, .stored_samples = 3}).model,
        complete_structured(data.train, {.right = sparse(700), .max_rank = 3}).model,
        complete_structured(data.train, {.offsets = true, .max_rank = 2}).model,
        columns_of({1, 1, 1, 1, 1}, {0, 5})})
    for (const GroupedEntries* left_out : {static_cast<const GroupedEntries*>(nullptr), &seen.by_row()}) {
      const int rows = int(model.row_count());
      const bool with = left_out && rows > 1;
      for (const Index count : {1, 7, 2000}) {
        const auto lists = Recommender(model).of_rows(0, rows, count, with ? left_out : nullptr, 2);
        ASSERT_EQ(lists.size(), std::size_t(rows));
        for (const auto& list : lists) ASSERT_EQ(list.capacity(), list.size()) << "as many as are listed";
        for (int i = 0; i < rows; i += 7) {
          std::span<const int> excluded;
          if (with) excluded = {left_out->index.data() + left_out->start[i], std::size_t(left_out->count(i))};
          const auto alone = recommend(model, i, count, excluded);
          ASSERT_EQ(columns(lists[std::size_t(i)]), columns(alone)) << "row " << i << ", " << count;
          for (std::size_t k = 0; k < alone.size(); ++k)
            ASSERT_EQ(lists[std::size_t(i)][k].prediction.value, alone[k].prediction.value);
        }
      }
    }
}

/// Every kind of model: self-tuned, averaged over draws, of structured atoms, with members never seen.
std::vector<CompletionModel> all_kinds(const ObservedEntries& entries) {
  return {complete(entries, {.max_rank = 3}).model,
          complete(entries, {.max_rank = 2, .samples = 4, .stored_samples = 3}).model,
          complete_structured(entries, {.right = sparse(20), .offsets = true, .max_rank = 2}).model};
}

ObservedEntries with_newcomers() {
  ObservedEntries entries = planted(70, 90, 2, 0.3, 0.2, 29).train;
  entries.rows = 72;
  entries.cols = 93;
  return entries;
}

/// Where nothing is regularised an atom that observed entries hardly see may have any size.
TEST(Recommender, ListsAreWholeWhereAtomsLeaveTheRangeOfSinglePrecision) {
  CompletionModel model = columns_of({0, 0, 0, 0, 0}, {2, 5});
  const Matrix right = (Matrix(5, 2) << 1, 0, -1, 0, 0.5, 0, 2, 1, 0, 0).finished();
  const std::vector<int> some{1, 3, 4};
  for (const double size : {1.0, 1e25, 1e100, 1e300}) {
    model.atoms = Expansion(Matrix::Ones(1, 2), right, (Vector(2) << 1, size).finished());
    for (const Index count : {1, 3, 9}) {
      EXPECT_EQ(columns(Recommender(model).of_rows(0, 1, count, nullptr, 1)[0]),
                columns(recommend(model, 0, count)));
      EXPECT_EQ(columns(Recommender(model).lists(std::vector{0}, {.count = count, .columns = &some}, 1)[0]),
                columns(recommend(model, 0, count, std::vector{0, 2})));
    }
  }
}

TEST(Recommender, ListsHoldOnlyTheColumnsAskedForByTheBoundAskedFor) {
  const ObservedEntries entries = with_newcomers();
  const ObservedMatrix seen(entries);
  std::vector<int> some;
  for (int j = 1; j < 93; j += 3) some.push_back(j);
  const std::vector<int> rows{71, 3, -1, 3, 40};
  for (const CompletionModel& model : all_kinds(entries))
    for (const double optimism : {0.0, 1.5, -1.0}) {
      const ListOptions options{5, &seen.by_row(), &some, optimism};
      const auto lists = Recommender(model).lists(rows, options, 2);
      ASSERT_EQ(lists.size(), rows.size());
      EXPECT_EQ(columns(lists[1]), columns(lists[3]));
      for (std::size_t k = 0; k < rows.size(); ++k) {
        std::vector<std::pair<double, int>> plain;
        for (const int j : some) {
          const auto& by_row = seen.by_row();
          if (rows[k] >= 0 && std::binary_search(by_row.index.begin() + by_row.start[rows[k]],
                                                 by_row.index.begin() + by_row.start[rows[k] + 1], j))
            continue;
          const Prediction each = predict(model, {rows[k], j});  // inside the range, as chosen below
          plain.emplace_back(-(each.value + optimism * each.deviation), j);
        }
        std::sort(plain.begin(), plain.end());
        for (std::size_t p = 0; p < lists[k].size(); ++p) {
          const double value = predict(model, {rows[k], plain[p].second}).value;
          const bool at_the_end = value >= model.highest || value <= model.lowest;
          EXPECT_TRUE(at_the_end || lists[k][p].col == plain[p].second) << rows[k] << ", place " << p;
        }
        EXPECT_EQ(lists[k].size(), 5U);
      }
    }
}

TEST(Recommender, ListsAreTheSameForAnyNumberOfThreads) {
  const ObservedEntries entries = with_newcomers();
  std::vector<int> rows;
  for (int k = 0; k < 200; ++k) rows.push_back(k * 7 % 72);
  for (const CompletionModel& model : all_kinds(entries)) {
    const auto one = Recommender(model).lists(rows, {}, 1);
    for (const int threads : {2, 3, 16}) {
      const auto several = Recommender(model).lists(rows, {}, threads);
      for (std::size_t k = 0; k < rows.size(); ++k) {
        ASSERT_EQ(columns(one[k]), columns(several[k]));
        for (std::size_t p = 0; p < one[k].size(); ++p)
          ASSERT_EQ(one[k][p].prediction.value, several[k][p].prediction.value);
      }
    }
  }
}

TEST(Recommender, VectorsMultiplyToPredictions) {
  const ObservedEntries entries = with_newcomers();
  for (CompletionModel model : all_kinds(entries)) {
    model.lowest = -INFINITY;
    model.highest = INFINITY;
    const Recommender::Vectors vectors = Recommender(model).vectors();
    const Matrix products = vectors.rows.cast<double>() * vectors.cols.transpose().cast<double>();
    for (int i = 0; i < 72; ++i)
      for (int j = 0; j < 93; ++j)
        ASSERT_NEAR(products(i, j), predict(model, {i, j}).value, 1e-4) << i << ", " << j;
  }
}

TEST(Recommender, RefusesOptionsThatMakeNoSense) {
  const CompletionModel model = columns_of({1, 7, 3}, {0, 5});
  const Recommender recommender(model);
  const std::vector<int> rows{0}, outside{1}, descending{2, 1}, beyond{3};
  EXPECT_THROW(recommender.lists(outside, {}), InvalidArgument);
  EXPECT_THROW(recommender.lists(rows, {.count = -1}), InvalidArgument);
  EXPECT_THROW(recommender.lists(rows, {.optimism = NAN}), InvalidArgument);
  for (const auto& bad : {descending, beyond})
    EXPECT_THROW(recommender.lists(rows, {.columns = &bad}), InvalidArgument);
  const std::vector<int> none;
  EXPECT_TRUE(recommender.lists(rows, {.columns = &none})[0].empty());
}

TEST(Transposed, PredictsTheSameEntriesTheOtherWayRound) {
  const ObservedEntries entries = with_newcomers();
  for (const CompletionModel& model : all_kinds(entries)) {
    const CompletionModel other = transposed(model);
    for (const Position at : {Position{0, 0}, {3, 92}, {71, 5}, {71, 91}, {-1, 4}, {6, -1}, {-1, -1}}) {
      const Prediction here = predict(model, at), there = predict(other, {at.col, at.row});
      EXPECT_NEAR(here.value, there.value, 1e-9);
      EXPECT_NEAR(here.deviation, there.deviation, 1e-9);
    }
  }
}

TEST(Positions, OutsideTheMatrixAreRefusedWithTheirNumbers) {
  const CompletionModel model = columns_of({1, 7, 3}, {0, 5});
  for (const Position at : {Position{1, 0}, {0, 3}, {-2, 0}, {0, -2}, {10000000, 0}}) {
    const std::string named = fmt::format("({}, {})", at.row, at.col);
    EXPECT_THAT(message_of<InvalidArgument>([&] { predict(model, at); }), HasSubstr(named));
    const std::vector<Position> positions{{0, 0}, at};
    EXPECT_THAT(message_of<InvalidArgument>([&] { predict(model, positions); }), HasSubstr(named));
    if (at.col == 0) {
      EXPECT_THROW(recommend(model, at.row, 1), InvalidArgument);
    }
  }
  EXPECT_THROW(recommend(model, 0, -1), InvalidArgument);
  EXPECT_THROW(Recommender(model).of_rows(0, 2, 1, nullptr, 1), InvalidArgument);
  EXPECT_EQ(recommend(model, -1, 1).front().col, 1) << "a row never seen has recommendations too";
}

}  // namespace
}  // namespace pursuit
