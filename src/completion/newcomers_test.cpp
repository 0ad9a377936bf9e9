// Rows and columns without entries, on matrices whose entries are mostly where rows like columns.

#include "completion/newcomers.hpp"

#include "completion/test_support.hpp"

namespace pursuit {
namespace {

/// Entries of some columns apart: they are all there is to know of these columns.
struct ColdColumns {
  Likes data{700, 300, 4, 91, 0.6};
  ObservedEntries train{700, 300, {}, {}, {}}, cold = train;

  static bool is_cold(int col) { return col % 10 == 3; }

  ColdColumns() {
    // Columns and rows differ in how good they are, too, and good ones have more entries.
    const Matrix offset = gaussian(300, 1, 95);
    Random random(96);
    for (std::size_t e = 0; e < data.train.row.size(); ++e) {
      const int i = data.train.row[e], j = data.train.col[e];
      if (random.uniform() < 1 / (1 + std::exp(-offset(j) - 1)))
        append(is_cold(j) ? cold : train, i, j, data.train.value[e] + float(offset(j)));
    }
  }

  /// What the mean of a row's entries would get.
  double error_of_row_means() const {
    std::vector<double> sum(700, 0.0), count = sum;
    for (std::size_t e = 0; e < train.row.size(); ++e) {
      sum[std::size_t(train.row[e])] += train.value[e];
      ++count[std::size_t(train.row[e])];
    }
    double squares = 0;
    for (std::size_t e = 0; e < cold.row.size(); ++e) {
      const auto i = std::size_t(cold.row[e]);
      squares += std::pow(cold.value[e] - (count[i] > 0 ? sum[i] / count[i] : 0.0), 2);
    }
    return std::sqrt(squares / double(cold.size()));
  }
};

const ColdColumns& cold_columns() {
  static const ColdColumns result;
  return result;
}

ObservedEntries transposed(ObservedEntries entries) {
  std::swap(entries.row, entries.col);
  std::swap(entries.rows, entries.cols);
  return entries;
}

TEST(Newcomers, ArePredictedNoWorseThanByTheMeansOfRowsAndWithHonestIntervals) {
  const ColdColumns& data = cold_columns();
  for (const bool use_pattern : {true, false})
    for (const bool flip : {false, true}) {
      const auto turned = [&](const ObservedEntries& entries) {
        return flip ? transposed(entries) : entries;
      };
      const CompletionModel model = complete(turned(data.train), {.use_pattern = use_pattern}).model;
      const Accuracy figures = accuracy_on(model, turned(data.cold));
      EXPECT_LT(figures.rmse, 1.005 * data.error_of_row_means()) << use_pattern << flip;
      EXPECT_NEAR(figures.inside_95, 0.95, 0.025) << use_pattern << flip;
      ObservedEntries never = turned(data.cold);  // ids that the model does not know at all
      for (int& index : flip ? never.row : never.col) index = -1;
      const auto by_index = predict(model, positions_of(turned(data.cold)));
      const auto unknown = predict(model, positions_of(never));
      EXPECT_LT(rms_difference(by_index, unknown), 1e-5);
    }
}

TEST(Newcomers, ArePredictedBetterWithFeaturesWhateverPatternsSay) {
  const ColdColumns& data = cold_columns();
  // What can be known of a column: how it is related to some rows.
  const Index known = 40;
  Matrix table = Matrix::Zero(300, known);
  for (std::size_t e = 0; e < data.data.truth.row.size(); ++e)
    if (data.data.truth.row[e] < known)
      table(data.data.truth.col[e], data.data.truth.row[e]) = data.data.truth.value[e];
  const FeatureTable features = observed(table, 1, 1);
  const double without = accuracy_on(complete(data.train).model, data.cold).rmse;
  for (const bool use_pattern : {true, false}) {
    const CompletionModel model =
        complete(data.train, {.use_pattern = use_pattern, .col_features = &features}).model;
    const Accuracy figures = accuracy_on(model, data.cold);
    EXPECT_LT(figures.rmse, 0.95 * without) << use_pattern;
    EXPECT_NEAR(figures.inside_95, 0.95, 0.03) << use_pattern;
  }
}

TEST(Newcomers, AreTheSameBitsForAnyNumberOfThreads) {
  const FeatureTable features = observed(gaussian(300, 5, 3), 0.7, 4);
  CompletionOptions options{.max_rank = 7, .col_features = &features, .threads = 1};
  const CompletionModel one = complete(cold_columns().train, options).model;
  for (const int threads : {2, 3, 16}) {
    options.threads = threads;
    const CompletionModel again = complete(cold_columns().train, options).model;
    EXPECT_EQ(again.cols.mean, one.cols.mean) << threads;
    EXPECT_EQ(again.cols.variance, one.cols.variance) << threads;
    EXPECT_EQ(again.cols.intercept, one.cols.intercept) << threads;
    EXPECT_EQ(again.rows.selection, one.rows.selection) << threads;
  }
}

TEST(Newcomers, OfAMatrixWithOneEntryEachAreFinite) {
  const CompletionModel model = complete(ObservedEntries{3, 4, {0, 1}, {1, 2}, {1, 5}}).model;
  for (int i = -1; i < 3; ++i)
    for (int j = -1; j < 4; ++j) {
      const Prediction p = predict(model, {i, j});
      EXPECT_TRUE(std::isfinite(p.value) && std::isfinite(p.deviation)) << i << " " << j;
    }
}

}  // namespace
}  // namespace pursuit
