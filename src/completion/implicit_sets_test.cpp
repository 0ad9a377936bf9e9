// Implicit feedback by structured atoms.

#include <gtest/gtest.h>

#include <cmath>

#include "completion/implicit_judge.hpp"
#include "completion/test_support.hpp"
#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/completion/recommend.hpp"

namespace pursuit {
namespace {

/// Rows of three tastes and what they click on.
ObservedEntries clicks_of_tastes(Index rows, Index cols, std::uint64_t seed) {
  ObservedEntries entries{rows, cols, {}, {}, {}};
  Random random(seed);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      if (random.uniform() < (i % 3 == j % 3 ? 0.4 : 0.02)) append(entries, i, j, float(1 + random.below(5)));
  return entries;
}

ImplicitOptions nonnegative_parts(Index rank = 6) {
  ImplicitOptions options;
  options.sets = ImplicitSets{nonneg(), nonneg(), WeightRule(WeightRule::nonneg)};
  options.max_rank = rank;
  return options;
}

TEST(ImplicitSets, NonNegativePartsAreTheTastes) {
  const CompletionResult result = complete_implicit(clicks_of_tastes(240, 61, 2), nonnegative_parts());
  const CompletionModel& model = result.model;
  EXPECT_TRUE(model.is_implicit());
  EXPECT_EQ(model.rows.mean.cols(), 1) << "no factors beside the atoms";
  ASSERT_GE(model.atoms.rank(), 3);
  EXPECT_GE(model.atoms.left().minCoeff(), 0);
  EXPECT_GE(model.atoms.right().minCoeff(), 0);
  EXPECT_GE(model.atoms.weights.minCoeff(), 0);
  Index own = 0, listed = 0;
  for (int i = 0; i < 240; ++i) {
    const auto columns = std::span(result.seen.index).subspan(result.seen.start[i], result.seen.count(i));
    for (const Recommendation& each : recommend(model, i, 5, columns)) {
      own += each.col % 3 == i % 3;
      ++listed;
    }
  }
  EXPECT_GT(double(own), 0.9 * double(listed));
}

TEST(ImplicitSets, ScoresThatAreEqualShareTheirPlaces) {
  ImplicitVectors rows(1, 1), cols(5, 1);
  rows.numbers[1] = 1;
  cols.numbers[std::size_t(cols.width) + 1] = 1;  // column 1 alone has a score above 0
  const GroupedEntries seen{{0, 1}, {4}, {1}};
  EXPECT_NEAR(gain_of(rows, cols, seen, {{0}, {{1}}}, 1), 1, 1e-12);
  EXPECT_NEAR(gain_of(rows, cols, seen, {{0}, {{2}}}, 1), 1 / std::log2(4.0), 1e-12) << "place 2, 3 or 4";
}

TEST(ImplicitSets, EveryAtomIsInItsSet) {
  for (const char* confidence : {"constant", "linear:0.5"}) {
    ImplicitOptions options;
    options.confidence = parse_confidence(confidence);
    options.sets = ImplicitSets{sphere(), sparse(9)};
    options.max_rank = 4;
    const CompletionModel model = complete_implicit(clicks_of_tastes(90, 31, 3), options).model;
    ASSERT_GE(model.atoms.rank(), 1);
    for (Index k = 0; k < model.atoms.rank(); ++k) {
      EXPECT_LE((model.atoms.right().col(k).array() != 0).count(), 9);
      EXPECT_NEAR(model.atoms.left().col(k).norm(), 1, 1e-9);
    }
  }
}

TEST(ImplicitSets, ARowFoldedInIsNearlyWhatItIsInTheModel) {
  const CompletionResult result = complete_implicit(clicks_of_tastes(200, 45, 4), nonnegative_parts(3));
  const Matrix again = new_row_factors(result.model, result.seen);
  EXPECT_GE(again.minCoeff(), 0) << "of non-negative parts";
  const Matrix scores = predict_rows(result.model, again);
  double error = 0, size = 0;
  for (int i = 0; i < 200; ++i)
    for (int j = 0; j < 45; ++j) {
      const double own = predict(result.model, Position{i, j}).value;
      error += std::pow(scores(i, j) - own, 2);
      size += own * own;
    }
  EXPECT_LT(error, 0.003 * size);
  const CompletionModel newcomers = with_new_rows(result.model, {{0, 2}, {1, 4}, {1, 1}});
  for (const Recommendation& each : recommend(newcomers, 0, 4, std::vector<int>{1, 4}))
    EXPECT_EQ(each.col % 3, 1);
  const GroupedEntries nothing{{0, 0}, {}, {}};
  EXPECT_EQ(Vector(new_row_factors(result.model, nothing).row(0).tail(result.model.atoms.rank())),
            average_row(result.model).mean);
}

TEST(ImplicitSets, TheSameBitsForAnyNumberOfThreads) {
  const ObservedEntries entries = clicks_of_tastes(1200, 211, 5);  // enough to be shared
  ImplicitOptions options = nonnegative_parts(3);
  const CompletionModel one = complete_implicit(entries, options).model;
  for (const int threads : {2, 3, 16}) {
    options.threads = threads;
    const CompletionModel many = complete_implicit(entries, options).model;
    EXPECT_EQ(one.atoms.left(), many.atoms.left());
    EXPECT_EQ(one.atoms.weights, many.atoms.weights);
    EXPECT_EQ(one.implicit.ridge, many.implicit.ridge);
  }
}

TEST(ImplicitSets, SignsAloneMoveAllAtomsAtOnce) {
  const ObservedEntries entries = clicks_of_tastes(150, 47, 8);
  for (const auto& [left, right] :
       {std::pair{nonneg(), nonneg()}, {sphere(), nonneg()}, {nonneg(), sphere()}, {sphere(), sphere()}}) {
    ImplicitOptions options;
    options.sets = ImplicitSets{left, right, {}};
    EXPECT_EQ(most_atoms(options), 127);
    const CompletionModel model = complete_implicit(entries, options).model;
    ASSERT_GE(model.atoms.rank(), 3);
    EXPECT_GT(model.atoms.weights.minCoeff(), 0);
    EXPECT_LT((model.atoms.left().colwise().norm().array() - 1).abs().maxCoeff(), 1e-12);
    EXPECT_LT((model.atoms.right().colwise().norm().array() - 1).abs().maxCoeff(), 1e-12);
    EXPECT_EQ(model.atoms.left().minCoeff() >= 0, left.spec() == "nonneg");
    EXPECT_EQ(model.atoms.right().minCoeff() >= 0, right.spec() == "nonneg");
  }
  ImplicitOptions one_by_one;
  one_by_one.sets = ImplicitSets{nonneg(), sparse(9), {}};
  EXPECT_EQ(most_atoms(one_by_one), 31);
  one_by_one.max_rank = 5;
  EXPECT_EQ(most_atoms(one_by_one), 5);
}

TEST(ImplicitSets, NonNegativePartsFitAlmostAsWellAsVectorsThatAreFree) {
  const ObservedEntries entries = clicks_of_tastes(300, 61, 9);
  ImplicitOptions free;
  free.max_rank = 6;
  const double of_free = complete_implicit(entries, free).path.front().validation,
               of_parts = complete_implicit(entries, nonnegative_parts()).path.front().validation;
  EXPECT_GT(of_parts, 0.95 * of_free);
}

TEST(ImplicitSets, SmallInputsAndEarlyEndsAreNoTrouble) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {1, 3}, {4, 1}, {3, 2}}) {
    ObservedEntries entries{rows, cols, {}, {}, {}};
    for (int i = 0; i < rows; ++i) append(entries, i, int(i % cols), 1);
    const CompletionResult result = complete_implicit(entries, nonnegative_parts());
    EXPECT_TRUE(std::isfinite(predict(result.model, Position{0, 0}).value));
  }
  ImplicitOptions options = nonnegative_parts();
  for (const int moments : {1, 8, 30}) {
    int left = moments;
    options.observer = [&](const Moment&) { return --left > 0; };
    const CompletionResult result = complete_implicit(clicks_of_tastes(90, 31, 6), options);
    EXPECT_TRUE(result.interrupted());
    EXPECT_TRUE(std::isfinite(predict(result.model, Position{3, 3}).value));
  }
}

TEST(ImplicitSets, RefusesWhatDoesNotGoTogether) {
  const ObservedEntries entries = clicks_of_tastes(30, 12, 7);
  ImplicitOptions options = nonnegative_parts();
  options.sets->weights = WeightRule(WeightRule::convex, 1);
  EXPECT_THROW(complete_implicit(entries, options), InvalidArgument);
  options = nonnegative_parts();
  FeatureTable features{30, 1, {}, {}, {}};
  append(features, 0, 0, 1);
  options.row_features = &features;
  EXPECT_THROW(complete_implicit(entries, options), InvalidArgument);
  const CompletionModel atoms = complete_implicit(entries, nonnegative_parts()).model;
  ImplicitOptions further;
  further.start = &atoms;
  EXPECT_THROW(complete_implicit(entries, further), InvalidArgument);
}

}  // namespace
}  // namespace pursuit
