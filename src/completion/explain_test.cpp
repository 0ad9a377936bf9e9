#include "pursuit/completion/explain.hpp"

#include "completion/test_support.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/completion/structured.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

TEST(Explain, EffectsOfAllEntriesAddUpToThePrediction) {
  const Planted data = planted(90, 50, 2, 0.3, 0.4, 3);
  const ObservedMatrix seen(data.train);
  for (CompletionModel model :
       {complete(data.train, {.max_rank = 3}).model,
        complete(data.train, {.max_rank = 3, .use_pattern = false}).model,
        complete_structured(data.train, {.right = sparse(30), .offsets = true, .max_rank = 3}).model}) {
    model.lowest = -INFINITY;
    model.highest = INFINITY;
    for (const int i : {0, 17}) {
      const std::int64_t first = seen.by_row().start[i], count = seen.by_row().count(i);
      const std::span<const int> cols(seen.by_row().index.data() + first, std::size_t(count));
      const std::span<const float> values(seen.by_row().value.data() + first, std::size_t(count));
      const GroupedEntries row{{0, count}, {cols.begin(), cols.end()}, {values.begin(), values.end()}};
      const Matrix predicted = predict_rows(model, new_row_factors(model, row));
      const std::vector<int> targets{0, 11, 49};
      const auto all = explain(model, {cols, values}, targets, 1000);
      const auto few = explain(model, {cols, values}, targets, 3);
      for (std::size_t t = 0; t < targets.size(); ++t) {
        double sum = all[t].expected;
        for (const Reason& each : all[t].reasons) sum += each.effect;
        EXPECT_NEAR(sum, predicted(0, targets[t]), 2e-3);
        ASSERT_EQ(few[t].reasons.size(), 3U);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(few[t].reasons[k].col, all[t].reasons[k].col);
        for (std::size_t k = 1; k < all[t].reasons.size(); ++k)
          EXPECT_GE(std::abs(all[t].reasons[k - 1].effect), std::abs(all[t].reasons[k].effect));
      }
    }
  }
}

TEST(Explain, OfZerosAndOnesAddsUpToTheLogOdds) {
  Planted data = planted(80, 40, 1, 0.3, 0.5, 8);
  for (float& value : data.train.value) value = value > 2 ? 1.0F : 0.0F;
  CompletionModel model = complete(data.train, {.loss = Loss::bernoulli, .max_rank = 2}).model;
  const ObservedMatrix seen(data.train);
  const auto& rows = seen.by_row();
  const std::span<const int> cols(rows.index.data() + rows.start[5], std::size_t(rows.count(5)));
  const std::span<const float> values(rows.value.data() + rows.start[5], std::size_t(rows.count(5)));
  const GroupedEntries row{{0, rows.count(5)}, {cols.begin(), cols.end()}, {values.begin(), values.end()}};
  const double p = predict_rows(model, new_row_factors(model, row))(0, 7);
  const std::vector<int> targets{7};
  const Explanation all = explain(model, {cols, values}, targets, 1000)[0];
  double sum = all.expected;
  for (const Reason& each : all.reasons) sum += each.effect;
  EXPECT_NEAR(sum, std::log(p / (1 - p)), 0.02);
}

TEST(Explain, NamesTheOneEntryThatSaysIt) {
  // Columns 0 and 1 are two of a kind, the others are noise.
  const Matrix tastes = gaussian(200, 1, 1), noise = gaussian(200, 12, 2);
  Matrix values = noise;
  values.col(0) = 3 * tastes + 0.1 * noise.col(0);
  values.col(1) = 3 * tastes + 0.1 * noise.col(1);
  const CompletionModel model = complete(observed(values, 0.8, 3), {.max_rank = 1}).model;
  const std::vector<int> cols{0, 4, 5, 6}, targets{1};
  const std::vector<float> given{6, -1, 1, 0.5F};
  const Explanation why = explain(model, {cols, given}, targets, 2)[0];
  EXPECT_EQ(why.reasons[0].col, 0);
  EXPECT_EQ(why.reasons[0].value, 6);
  EXPECT_GT(why.reasons[0].effect, 3);
  EXPECT_LT(std::abs(why.reasons[1].effect), 1);
}

TEST(Explain, StartsFromWhatFeaturesSay) {
  const ObservedEntries entries = planted(60, 30, 1, 0.3, 0.4, 6).train;
  FeatureTable features{60, 1, {}, {}, {}};
  for (int i = 0; i < 60; i += 2) append(features, i, 0, 1);
  const CompletionModel model = complete(entries, {.max_rank = 1, .row_features = &features}).model;
  const std::vector<int> cols{2}, targets{4};
  const std::vector<float> given{1};
  const double without = explain(model, {cols, given}, targets, 1)[0].expected;
  const double with = explain(model, {cols, given, 1, {{0, 1.0F}}}, targets, 1)[0].expected;
  EXPECT_NEAR(with - without,
              model.scale * (double(model.rows.features(0, 0)) +
                             double(model.rows.features(0, 1)) * model.cols.mean(4, 1)),
              1e-6);
  EXPECT_THROW(explain(model, {cols, given, 1, {{1, 1.0F}}}, targets, 1), InvalidArgument);
}

TEST(Explain, RefusesWhatThereIsNot) {
  const CompletionModel model = complete(planted(30, 20, 1, 0.3, 0.4, 6).train, {.max_rank = 1}).model;
  const std::vector<int> cols{2}, beyond{20}, targets{4};
  const std::vector<float> given{1};
  EXPECT_THAT(message_of<InvalidInput>([&] {
                explain(model, {beyond, given}, targets, 1);
              }),
              HasSubstr("column 20"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                explain(model, {cols, given}, beyond, 1);
              }),
              HasSubstr("column 20"));
  EXPECT_THROW(explain(model, {cols, given}, targets, -1), InvalidArgument);
}

TEST(Explain, IsRefusedWherePredictionsAreNotThoseOfSquares) {
  const Planted data = planted(30, 20, 2, 0.3, 0.4, 3);
  CompletionModel clicks = complete(data.train, {.max_rank = 2}).model;
  clicks.implicit.zeros = 0.5;
  const std::vector<int> cols{1}, targets{2};
  const std::vector<float> values{1};
  EXPECT_THAT(message_of<InvalidInput>([&] {
                explain(clicks, {cols, values}, targets, 3);
              }),
              HasSubstr("not of implicit feedback"));
  CompletionModel counts = complete(data.train, {.max_rank = 2}).model;
  counts.loss = parse_loss("poisson");
  EXPECT_THAT(message_of<InvalidInput>([&] {
                explain(counts, {cols, values}, targets, 3);
              }),
              HasSubstr("not of poisson"));
}

}  // namespace
}  // namespace pursuit
