// Rows left out of a completion, predicted from some of their entries.

#include "pursuit/completion/new_rows.hpp"

#include "completion/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/structured.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

constexpr int kKept = 200;  // rows that the model is made from; those after them are new

struct Split {
  Planted data = planted(240, 60, 3, 0.2, 0.5, 7);
  ObservedEntries train, fresh;

  Split() {
    train = fresh = ObservedEntries{kKept, data.train.cols, {}, {}, {}};
    fresh.rows = data.train.rows - kKept;
    for (std::size_t e = 0; e < data.train.row.size(); ++e) {
      const int i = data.train.row[e];
      append(i < kKept ? train : fresh, i < kKept ? i : i - kKept, data.train.col[e], data.train.value[e]);
    }
  }

  /// Of all entries of the new rows, in the units of the noise.
  double error_of(const CompletionModel& model) const {
    const Matrix factors = new_row_factors(model, ObservedMatrix(fresh).by_row());
    const Matrix truth = data.truth.bottomRows(fresh.rows);
    return std::sqrt((predict_rows(model, factors) - truth).squaredNorm() / double(truth.size())) / 0.2;
  }
};

TEST(NewRows, ArePredictedAsWellAsThoseOfTheModel) {
  const Split split;
  EXPECT_LT(split.error_of(complete(split.train).model), 0.8);
  EXPECT_GT(split.error_of(complete(split.train, {.max_rank = 0}).model), 3)
      << "offsets alone should not be enough";
}

TEST(NewRows, GoWithStructuredAtomsToo) {
  const Split split;
  StructuredOptions options;
  options.offsets = true;
  options.max_rank = 5;
  options.regularization = {Regularization::self_tuned, 0};
  EXPECT_LT(split.error_of(complete_structured(split.train, options).model), 1.2);
}

/// Half the distance of predictions from the entries of row 0, and what its factors pay.
double cost_of_first_row(const CompletionModel& model, const GroupedEntries& entries, const Matrix& row) {
  const Matrix predictions = predict_rows(model, row);
  double cost = 0;
  for (std::int64_t e = 0; e < entries.start[1]; ++e) {
    const double rest = (predictions(0, entries.index[std::size_t(e)]) - entries.value[std::size_t(e)]);
    cost += model.cols.noise_weight[std::size_t(entries.index[std::size_t(e)])] *
            std::pow(rest / model.scale, 2) / model.noise_variance;
  }
  const bool based = model.rows.base_intercept.size() > 0;
  const double expected = (based ? model.rows.base_intercept : model.rows.intercept)[0];
  cost +=
      std::pow(row(0, 0) - expected, 2) / (based ? model.rows.base_variance : model.rows.prior_variance)[0];
  const AverageMember average = average_row(model);
  for (Index k = 0; k < average.mean.size(); ++k)
    cost += std::pow(row(0, 1 + k) - average.mean[k], 2) / average.variance[k];
  return cost / 2;
}

TEST(NewRows, OfNonNegativeSetsAreTheBestThatAreNotNegative) {
  const Matrix left = uniform(60, 3, 1), right = uniform(25, 3, 2);
  StructuredOptions options;
  options.left = options.right = nonneg();
  options.weights = WeightRule::nonneg;
  options.offsets = true;
  options.max_rank = 3;
  options.range = Range{-100, 100};
  const CompletionModel model =
      complete_structured(observed(left * right.transpose() + 0.1 * gaussian(60, 25, 3), 0.7, 4), options)
          .model;
  ASSERT_TRUE(model.rows.nonnegative);
  const auto own = model.rows.mean.cols();
  const ObservedMatrix fresh(observed(2 * gaussian(20, 25, 5), 0.6, 6));  // nothing like the parts
  const GroupedEntries entries = fresh.by_row();
  const Matrix rows = new_row_factors(model, entries);
  EXPECT_GE(rows.rightCols(rows.cols() - own).minCoeff(), 0);
  EXPECT_GT((rows.rightCols(rows.cols() - own).array() == 0).count(), 0) << "bounds should matter here";
  const double best = cost_of_first_row(model, entries, rows.topRows(1));
  for (Index k = 0; k < rows.cols(); ++k)
    for (const double step : {-0.02, 0.02}) {
      Matrix other = rows.topRows(1);
      other(0, k) += step * (1 + std::abs(other(0, k)));
      if (k >= own && other(0, k) < 0) continue;
      EXPECT_GT(cost_of_first_row(model, entries, other), best) << k << " " << step;
    }
  const CompletionModel turned = with_new_rows(model, entries);
  EXPECT_TRUE(turned.rows.nonnegative);
  EXPECT_GE(turned.atoms.left().minCoeff(), 0);
}

TEST(NewRows, OfNonNegativeSetsAreNotNegativeUnderOtherLosses) {
  Matrix clicks = uniform(60, 20, 1);
  clicks = (clicks.array() < 0.4).cast<double>();
  StructuredOptions options;
  options.loss = parse_loss("bernoulli");
  options.left = options.right = nonneg();
  options.weights = WeightRule::nonneg;
  options.offsets = true;
  options.max_rank = 3;
  const CompletionModel model = complete_structured(observed(clicks, 0.7, 2), options).model;
  ASSERT_GT(model.atoms.rank(), 0);
  Matrix others = (uniform(30, 20, 3).array() < 0.1).cast<double>();
  const Matrix rows = new_row_factors(model, ObservedMatrix(observed(others, 0.8, 4)).by_row());
  EXPECT_GE(rows.rightCols(model.atoms.rank()).minCoeff(), 0);
  EXPECT_LT(rows.col(0).minCoeff(), 0) << "offsets may have any sign";
}

TEST(NewRows, OfSetsWithNegativeMembersMayBeNegative) {
  const Split split;
  for (const auto& [left, weights] :
       {std::pair(sphere(), WeightRule(WeightRule::nonneg)), {nonneg(), WeightRule(WeightRule::free)}}) {
    StructuredOptions options;
    options.left = left;
    options.weights = weights;
    options.max_rank = 2;
    EXPECT_FALSE(complete_structured(split.train, options).model.rows.nonnegative);
  }
}

TEST(NewRows, OfTheModelGetTheFactorsThatTheyHave) {
  const Split split;
  const CompletionResult result = complete(split.train);
  const Matrix again = new_row_factors(result.model, result.seen);
  const Matrix own = result.model.rows.mean.cast<double>();
  EXPECT_LT((again - own).norm(), 0.05 * own.norm());
}

TEST(NewRows, WithoutEntriesAreWhatIsExpectedOfAny) {
  const Split split;
  const CompletionModel model = complete(split.train).model;
  const GroupedEntries nothing{{0, 0}, {}, {}};
  const Matrix rows = predict_rows(model, new_row_factors(model, nothing));
  for (int j = 0; j < 60; ++j) EXPECT_NEAR(rows(0, j), predict(model, {-1, j}).value, 1e-4);
}

TEST(NewRows, HaveInColumnsNeverSeenWhatIsExpectedOfAnyColumn) {
  const Split split;
  ObservedEntries train{split.train.rows, split.train.cols + 1, {}, {}, {}};
  for (std::size_t e = 0; e < split.train.row.size(); ++e)
    append(train, split.train.row[e], split.train.col[e], split.train.value[e]);
  StructuredOptions options;
  options.max_rank = 3;
  const CompletionModel model = complete_structured(train, options).model;
  Matrix factors(kKept, row_width(model));  // those of the model's own rows
  factors << Matrix::Zero(kKept, 1), model.atoms.scaled_left();
  const Matrix rows = predict_rows(model, factors);
  for (int i = 0; i < 5; ++i)
    for (const int j : {0, 60}) EXPECT_NEAR(rows(i, j), predict(model, {i, j}).value, 1e-9);
}

TEST(NewRows, OfValuesOfAnySizeAreTheSameUpToThatSize) {
  const Split split;
  StructuredOptions options;
  options.max_rank = 3;
  const auto rows_of = [&](float size) {
    ObservedEntries train = split.train, fresh = split.fresh;
    for (ObservedEntries* entries : {&train, &fresh})
      for (float& value : entries->value) value *= size;
    const CompletionModel model = complete_structured(train, options).model;
    return Matrix(predict_rows(model, new_row_factors(model, ObservedMatrix(fresh).by_row())) / size);
  };
  const Matrix rows = rows_of(1);
  for (const float size : {0x1p-100F, 0x1p100F})
    EXPECT_LT((rows_of(size) - rows).norm(), 1e-6 * rows.norm()) << size;
}

TEST(NewRows, MakeAModelThatPredictsThemAsTheirFactorsDo) {
  const Split split;
  const ObservedMatrix fresh(split.fresh);
  for (const CompletionModel& model :
       {complete(split.train, {.max_rank = 3}).model,
        complete(split.train, {.max_rank = 3, .samples = 4}).model,
        complete_structured(split.train, {.offsets = true, .max_rank = 3}).model}) {
    const CompletionModel own = with_new_rows(model, fresh.by_row());
    const Matrix rows = predict_rows(model, new_row_factors(model, fresh.by_row()));
    ASSERT_EQ(own.row_count(), fresh.rows());
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 60; ++j) {
        const Prediction each = predict(own, {i, j});
        ASSERT_NEAR(each.value, rows(i, j), 1e-4);
        ASSERT_GT(each.deviation, 0);
        ASSERT_LT(each.deviation, 2);
      }
  }
  const CompletionModel model = complete(split.train, {.max_rank = 1}).model;
  EXPECT_THAT(message_of<InvalidInput>([&] {
                with_new_rows(model, {{0, 0}, {}, {}});
              }),
              HasSubstr("no entry"));
}

TEST(NewRows, DoNotDependOnThreads) {
  const Split split;
  const CompletionModel model = complete(split.train, {.max_rank = 4}).model;
  const ObservedMatrix fresh(split.fresh);
  EXPECT_TRUE(
      same_bits(new_row_factors(model, fresh.by_row(), 1), new_row_factors(model, fresh.by_row(), 4)));
}

TEST(NewRows, RefuseWhatTheModelHasNot) {
  const Split split;
  const CompletionModel model = complete(split.train, {.max_rank = 1}).model;
  EXPECT_THAT(message_of<InvalidInput>([&] {
                new_row_factors(model, {{0, 1}, {60}, {1.0F}});
              }),
              HasSubstr("column 60"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { predict_rows(model, Matrix::Ones(1, 9)); }),
              HasSubstr("9 factors"));
}

}  // namespace
}  // namespace pursuit
