// Completion where there is no variance, or none of the noise: equal values, zeros, one entry, one row, exact
// low rank, and values of any size.

#include "completion/test_support.hpp"
#include "pursuit/completion/structured.hpp"

namespace pursuit {
namespace {

struct Case {
  std::string what;
  Matrix truth;
  double share = 0.7;
  double tolerance = 0;  // of predictions, relative to the largest value
};

std::vector<Case> cases() {
  std::vector<Case> result{{"equal values", Matrix::Constant(20, 5, 5)},
                           {"equal values, many", Matrix::Constant(60, 40, 0.1F)},
                           {"zeros", Matrix::Zero(20, 30)},
                           {"zeros, many", Matrix::Zero(60, 40)},
                           {"one entry", Matrix::Constant(1, 1, -3), 1},
                           {"one row", Matrix::Constant(1, 30, 4), 1},
                           {"one column", Matrix::Constant(80, 1, 4), 1}};
  const Matrix low_rank = gaussian(60, 3, 1) * gaussian(3, 40, 2);
  for (const double noise : {0.0, 1e-6, 1e-8, 1e-10, 1e-12})
    result.push_back(
        {fmt::format("rank three, noise {}", noise), low_rank + noise * gaussian(60, 40, 3), 0.7, 1e-3});
  return result;
}

/// All positions, and members never seen.
std::vector<Position> everywhere(const Matrix& m) {
  std::vector<Position> result;
  for (int i = -1; i < m.rows(); ++i)
    for (int j = -1; j < m.cols(); ++j) result.push_back({i, j});
  return result;
}

void expect_right(const CompletionResult& result, const Case& c, double tolerance) {
  require_sound(result.model);
  const std::vector<Position> positions = everywhere(c.truth);
  const auto predictions = predict(result.model, positions);
  const double size = std::max(c.truth.cwiseAbs().maxCoeff(), 1e-15);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const auto [i, j] = positions[k];
    ASSERT_TRUE(std::isfinite(predictions[k].value) && predictions[k].deviation >= 0 &&
                std::isfinite(predictions[k].deviation))
        << c.what << " at " << i << ", " << j;
    const bool known = (i >= 0 && j >= 0) || tolerance == 0;
    if (known) {
      const double truth = c.truth(std::max(i, 0), std::max(j, 0));
      ASSERT_NEAR(predictions[k].value, std::clamp(truth, result.model.lowest, result.model.highest),
                  tolerance * size)
          << c.what << " at " << i << ", " << j;
    }
  }
}

constexpr Range kAnything{-1e30, 1e30};

TEST(WithoutNoise, TheDefaultPredictsWhatIsThere) {
  for (const Case& c : cases()) expect_right(complete(observed(c.truth, c.share, 5)), c, c.tolerance + 1e-7);
}

TEST(WithoutNoise, TheDefaultNeedsNoRangeForIt) {
  for (const Case& c : cases())
    expect_right(complete(observed(c.truth, c.share, 5), {.range = kAnything}), c, c.tolerance + 1e-5);
}

TEST(WithoutNoise, DrawsEndAndPredictWhatIsThere) {
  for (const Case& c : cases())
    for (const auto& range : {std::optional<Range>(), std::optional<Range>(kAnything)}) {
      const ObservedEntries entries = observed(c.truth, c.share, 5);
      CompletionOptions options{.samples = 30, .range = range};
      options.predict = positions_of(entries);
      const CompletionResult result = complete(entries, options);
      EXPECT_EQ(result.model.samples.size(), 16U) << c.what;
      expect_right(result, c, c.tolerance > 0 ? 0.05 : range ? 1e-4 : 1e-7);
      for (const Prediction& p : result.predictions) ASSERT_TRUE(std::isfinite(p.value)) << c.what;
    }
}

TEST(WithoutNoise, StructuredAtomsPredictWhatIsThere) {
  for (const Case& c : cases())
    for (const bool offsets : {false, true})
      for (const Regularization::Kind kind : {Regularization::none, Regularization::self_tuned}) {
        StructuredOptions options{
            .regularization = {kind, 0}, .offsets = offsets, .max_rank = 6, .corrections = {20}};
        expect_right(complete_structured(observed(c.truth, c.share, 5), options), c,
                     c.tolerance > 0 ? 0.05 : 1e-6);
      }
}

ObservedEntries times(ObservedEntries entries, double factor) {
  for (float& value : entries.value) value = float(value * factor);
  return entries;
}

void expect_same_up_to(double factor, const CompletionResult& one, const CompletionResult& scaled) {
  const std::vector<Position> positions =
      everywhere(Matrix::Zero(one.model.row_count(), one.model.column_count()));
  const auto expected = predict(one.model, positions), got = predict(scaled.model, positions);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    ASSERT_EQ(got[k].value, factor * expected[k].value) << factor;
    ASSERT_EQ(got[k].deviation, factor * expected[k].deviation) << factor;
  }
  for (std::size_t k = 0; k < one.predictions.size(); ++k)
    ASSERT_EQ(scaled.predictions[k].value, factor * one.predictions[k].value) << factor;
  ASSERT_EQ(one.path.size(), scaled.path.size());
  EXPECT_EQ(scaled.path.back().noise, factor * one.path.back().noise);
  for (std::size_t e = 0; e < one.seen.value.size(); ++e)
    ASSERT_EQ(scaled.seen.value[e], float(factor * one.seen.value[e]));
}

TEST(AnySize, PowersOfTwoOfTheDataGiveThePredictionsTimesThem) {
  ObservedEntries entries = planted(40, 30, 2, 0.3, 0.6, 17).train;
  for (float& value : entries.value)
    value = std::round(16 * value) / 16;  // so that 2^-120 of it is still exact
  CompletionOptions means, draws{.samples = 10};
  draws.predict = positions_of(entries);
  StructuredOptions plain{.right = sparse(20), .max_rank = 3}, tuned = plain;
  tuned.regularization.kind = Regularization::self_tuned;
  tuned.offsets = true;
  for (const int k : {-120, -40, 40, 120}) {
    const double factor = std::ldexp(1.0, k);
    const ObservedEntries scaled = times(entries, factor);
    for (const CompletionOptions& options : {means, draws})
      expect_same_up_to(factor, complete(entries, options), complete(scaled, options));
    for (const StructuredOptions& options : {plain, tuned})
      expect_same_up_to(factor, complete_structured(entries, options), complete_structured(scaled, options));
  }
}

TEST(AnySize, TheLargestAndTheSmallestNumbersAreCompleted) {
  const Matrix low_rank = gaussian(40, 2, 7) * gaussian(2, 30, 8);
  const Matrix unit = low_rank / low_rank.cwiseAbs().maxCoeff();
  for (const double size : {3.3e38, 1e38, 1e-38, 1e-40}) {
    const Matrix truth = size * unit;
    const ObservedEntries entries = observed(truth, 0.7, 9);
    for (const CompletionModel& model :
         {complete(entries).model, complete(entries, {.samples = 10}).model,
          complete_structured(entries, {.max_rank = 3, .corrections = {20}}).model}) {
      double error = 0;
      for (int i = 0; i < truth.rows(); ++i)
        for (int j = 0; j < truth.cols(); ++j)
          error = std::max(error, std::abs(predict(model, {i, j}).value - truth(i, j)) / size);
      EXPECT_LT(error, 0.1) << size;
    }
  }
}

TEST(AnySize, AStartOfQuiteAnotherSizeIsNotTaken) {
  const ObservedEntries entries = planted(40, 30, 2, 0.3, 0.6, 17).train;
  const CompletionModel fresh = complete(entries).model;
  for (const double factor : {1e-30, 1e30}) {
    const CompletionModel start = complete(times(entries, factor)).model;
    EXPECT_TRUE(same_predictions(predict(complete(entries, {.start = &start}).model, positions_of(entries)),
                                 predict(fresh, positions_of(entries))))
        << factor;
  }
}

}  // namespace
}  // namespace pursuit
