#include "pursuit/completion/implicit.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "completion/implicit_factors.hpp"
#include "completion/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/completion/ranking.hpp"
#include "pursuit/weights/nonnegative_least_squares.hpp"

namespace pursuit {
namespace {

/// Rows of a few tastes click on the columns of theirs, and now and then on any.
ObservedEntries clicks(Index rows, Index cols, Index tastes, std::uint64_t seed) {
  ObservedEntries entries{rows, cols, {}, {}, {}};
  Random random(seed);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      if (random.uniform() < (i % tastes == j % tastes ? 0.4 : 0.02)) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(float(1 + random.below(5)));
      }
  return entries;
}

GroupedEntries by_row(const ObservedEntries& entries) {
  return ObservedMatrix(entries).take_by_row();
}

/// The best vector of row i by plain normal equations over all columns, seen or not.
Vector reference_row(const GroupedEntries& seen, Index i, const Matrix& cols, const ImplicitPrior& prior) {
  const Index atoms = cols.cols();
  Matrix system = Matrix::Zero(atoms, atoms);
  Vector right = Vector::Zero(atoms);
  double weights = 0;
  for (Index j = 0; j < cols.rows(); ++j) {
    system += prior.zeros * cols.row(j).transpose() * cols.row(j);
    weights += prior.zeros;
  }
  for (std::int64_t e = seen.start[i]; e < seen.start[i + 1]; ++e) {
    const double weight = prior.confidence.weight(seen.value[e]);
    const Vector v = cols.row(seen.index[e]).transpose();
    system += weight * v * v.transpose();
    right += weight * v;
    weights += weight;
  }
  system.diagonal().array() += prior.ridge * weights;
  return system.ldlt().solve(right);
}

TEST(Implicit, RowsSolveTheWeightedLeastSquaresOverAllColumns) {
  for (const Confidence& confidence :
       {Confidence{}, Confidence{Confidence::linear, 0.7, 1}, Confidence{Confidence::logarithmic, 2, 3}})
    for (const Index atoms : {1, 7, 15, 20}) {
      ObservedEntries entries = clicks(37, 29, 3, 1);
      entries.rows += 2;  // rows without entries
      const GroupedEntries seen = by_row(entries);
      const ImplicitPrior prior{0.3, 0.02, confidence};
      Random random(5);
      const Matrix cols = random.gaussian_matrix(29, atoms);
      FactorMatrix with_offset = FactorMatrix::Zero(29, 1 + atoms);
      with_offset.rightCols(atoms) = cols.cast<float>();
      const ImplicitEntries data(seen, confidence);
      ImplicitVectors rows(seen.size(), atoms);
      update_implicit_rows(data, tasks_of(data), ImplicitVectors(with_offset), prior, false, 2, rows);
      const FactorMatrix found = rows.matrix(atoms);
      for (Index i = 0; i < seen.size(); ++i) {
        const Vector expected = reference_row(seen, i, cols, prior);
        EXPECT_EQ(found(i, 0), 0);
        EXPECT_LT((found.row(i).tail(atoms).transpose().cast<double>() - expected).norm(),
                  1e-3 * (1 + expected.norm()))
            << confidence.spec() << " " << atoms << " row " << i;
      }
    }
}

TEST(Implicit, RowsThatMustNotBeNegativeAreTheBestOfThose) {
  for (const Index atoms : {1, 7, 20}) {
    const GroupedEntries seen = by_row(clicks(37, 29, 3, 1));
    const ImplicitPrior prior{0.3, 0.02, {Confidence::linear, 0.7, 1}};
    Random random(6);
    const Matrix cols = random.gaussian_matrix(29, atoms);
    FactorMatrix with_offset = FactorMatrix::Zero(29, 1 + atoms);
    with_offset.rightCols(atoms) = cols.cast<float>();
    const ImplicitEntries data(seen, prior.confidence);
    ImplicitVectors rows(seen.size(), atoms);
    update_implicit_rows(data, tasks_of(data), ImplicitVectors(with_offset), prior, true, 2, rows);
    Index zeros = 0;
    for (Index i = 0; i < seen.size(); ++i) {
      Matrix gram = prior.zeros * cols.transpose() * cols;
      Vector sums = Vector::Zero(atoms);
      double weight_of_row = prior.zeros * 29;
      for (std::int64_t e = seen.start[i]; e < seen.start[i + 1]; ++e) {
        const double weight = prior.confidence.weight(seen.value[e]);
        const Vector col = cols.row(seen.index[e]).transpose();
        gram += weight * col * col.transpose();
        sums += weight * col;
        weight_of_row += weight;
      }
      gram.diagonal().array() += prior.ridge * weight_of_row;
      const Vector found = rows.matrix(atoms).row(i).tail(atoms).transpose().cast<double>();
      EXPECT_GE(found.minCoeff(), 0);
      zeros += (found.array() == 0).count();
      const Vector best = nonnegative_least_squares(gram, sums.transpose()).row(0).transpose();
      const auto cost = [&](const Vector& x) { return 0.5 * x.dot(gram * x) - sums.dot(x); };
      EXPECT_LT(cost(found) - cost(best), 1e-3 * std::abs(cost(best)) + 1e-9) << atoms << " row " << i;
      // Rows share registers, and nothing else.
      const GroupedEntries alone{
          {0, seen.count(i)},
          {seen.index.begin() + seen.start[i], seen.index.begin() + seen.start[i + 1]},
          {seen.value.begin() + seen.start[i], seen.value.begin() + seen.start[i + 1]}};
      const ImplicitEntries own(alone, prior.confidence);
      ImplicitVectors one(1, atoms);
      update_implicit_rows(own, tasks_of(own), ImplicitVectors(with_offset), prior, true, 1, one);
      EXPECT_EQ(one.matrix(atoms).row(0), rows.matrix(atoms).row(i));
    }
    if (atoms > 1) {
      EXPECT_GT(zeros, 0) << "the bound was felt";
    }
  }
}

TEST(Implicit, FindsWhatARowWouldClickOn) {
  ObservedEntries entries = clicks(300, 90, 3, 2), test{300, 90, {}, {}, {}}, train = test;
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    ObservedEntries& part = e % 10 == 3 ? test : train;
    part.row.push_back(entries.row[e]);
    part.col.push_back(entries.col[e]);
    part.value.push_back(entries.value[e]);
  }
  const CompletionResult result = complete_implicit(train);
  EXPECT_TRUE(result.model.is_implicit());
  Index own = 0, listed = 0;
  for (int i = 0; i < 300; ++i) {
    const auto columns = std::span(result.seen.index).subspan(result.seen.start[i], result.seen.count(i));
    for (const Recommendation& each : recommend(result.model, i, 10, columns)) {
      own += each.col % 3 == i % 3;
      ++listed;
      EXPECT_TRUE(std::isfinite(each.prediction.deviation));
    }
  }
  EXPECT_GT(double(own), 0.9 * double(listed));
  EXPECT_GT(ranking_score(result.model, result.seen, test, 1, 10).recall, 0.4);  // 10 of 18 or so are as good
  ASSERT_GE(result.path.size(), 2U);
  EXPECT_GT(result.path.front().validation, 0);
}

TEST(Implicit, FeaturesPlaceMembersWithoutEntries) {
  // Kinds of rows like kinds of columns; the last rows and columns have never clicked or been clicked on.
  ObservedEntries all = clicks(330, 99, 3, 2), train{330, 99, {}, {}, {}};
  for (std::size_t e = 0; e < all.row.size(); ++e)
    if (all.row[e] < 300 && all.col[e] < 90) append(train, all.row[e], all.col[e], all.value[e]);
  FeatureTable kind_of_row{330, 3, {}, {}, {}}, kind_of_col{99, 3, {}, {}, {}};
  for (int i = 0; i < 330; ++i) append(kind_of_row, i, i % 3, 1);
  for (int j = 0; j < 99; ++j) append(kind_of_col, j, j % 3, 1);
  const CompletionResult plain = complete_implicit(train);
  const CompletionResult result =
      complete_implicit(train, {.row_features = &kind_of_row, .col_features = &kind_of_col});
  EXPECT_EQ(result.model.rows.mean.topRows(300), plain.model.rows.mean.topRows(300));
  Index own = 0, listed = 0;
  for (int i = 300; i < 330; ++i)
    for (const Recommendation& each : recommend(result.model, i, 5, {})) {
      own += each.col % 3 == i % 3;
      ++listed;
    }
  EXPECT_GT(own, 9 * listed / 10) << "rows without a click";
  for (int i = 0; i < 30; ++i)
    for (int j = 90 + i % 3; j < 99; j += 3)
      EXPECT_GT(predict(result.model, {i, j}).value, predict(result.model, {i, 90 + (j + 1) % 3}).value);
  const CompletionResult next = complete_implicit(
      train, {.row_features = &kind_of_row, .col_features = &kind_of_col, .start = &result.model});
  EXPECT_GT(predict(next.model, {300, 93}).value, predict(next.model, {300, 94}).value);
}

TEST(Implicit, ARowFoldedInIsWhatItIsInTheModel) {
  ImplicitOptions options;
  options.confidence = parse_confidence("log:3:1");
  const CompletionResult result = complete_implicit(clicks(80, 45, 4, 3), options);
  const Matrix again = new_row_factors(result.model, result.seen);
  EXPECT_LT((again - result.model.rows.mean.cast<double>()).cwiseAbs().maxCoeff(), 1e-5);
  const Matrix scores = predict_rows(result.model, again);
  for (int j = 0; j < 45; ++j) EXPECT_NEAR(scores(7, j), predict(result.model, Position{7, j}).value, 1e-4);
  const GroupedEntries nothing{{0, 0}, {}, {}};  // a newcomer is like the average of the others
  EXPECT_EQ(new_row_factors(result.model, nothing).row(0).cast<float>(),
            result.model.rows.intercept.transpose());
}

TEST(Implicit, TheSameBitsForAnyNumberOfThreads) {
  const ObservedEntries entries = clicks(200, 61, 3, 4);
  ImplicitOptions options;
  options.max_rank = 31;
  const CompletionResult one = complete_implicit(entries, options);
  for (const int threads : {2, 3, 16}) {
    options.threads = threads;
    const CompletionResult many = complete_implicit(entries, options);
    EXPECT_EQ(one.model.rows.mean, many.model.rows.mean);
    EXPECT_EQ(one.model.cols.mean, many.model.cols.mean);
    EXPECT_EQ(one.model.noise_variance, many.model.noise_variance);
  }
}

TEST(Implicit, AnUpdateGoesOnFromTheModel) {
  const ObservedEntries entries = clicks(90, 40, 3, 5);
  const CompletionResult first = complete_implicit(entries);
  ImplicitOptions options;
  options.start = &first.model;
  options.start_entries = &first.seen;
  const CompletionResult same = complete_implicit(entries, options);
  EXPECT_EQ(same.model.rows.mean, first.model.rows.mean);
  EXPECT_EQ(same.model.cols.mean, first.model.cols.mean);

  ObservedEntries more = entries;
  more.rows = 91;
  for (const int j : {2, 5, 8}) {  // of the taste of rows 2, 5, 8 ...
    more.row.push_back(90);
    more.col.push_back(j);
    more.value.push_back(1);
  }
  const CompletionResult updated = complete_implicit(more, options);
  EXPECT_EQ(updated.model.rank(), first.model.rank());
  EXPECT_EQ(updated.model.implicit.ridge, first.model.implicit.ridge);
  for (const Recommendation& each : recommend(updated.model, 90, 4, std::vector<int>{2, 5, 8}))
    EXPECT_EQ(each.col % 3, 2);
}

TEST(Implicit, SmallInputsAreNoTrouble) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {1, 3}, {4, 1}, {3, 2}}) {
    ObservedEntries entries{rows, cols, {}, {}, {}};
    for (int i = 0; i < rows; ++i) {
      entries.row.push_back(i);
      entries.col.push_back(int(i % cols));
      entries.value.push_back(1);
    }
    const CompletionResult result = complete_implicit(entries);
    EXPECT_TRUE(std::isfinite(predict(result.model, Position{0, 0}).value));
  }
}

TEST(Implicit, RefusesWhatMakesNoSense) {
  ObservedEntries entries = clicks(10, 10, 2, 6);
  entries.value[3] = -1;
  EXPECT_THROW(complete_implicit(entries), InvalidInput);
  std::fill(entries.value.begin(), entries.value.end(), 0.0F);
  EXPECT_THROW(complete_implicit(entries), InvalidInput);
  entries = clicks(10, 10, 2, 6);
  ImplicitOptions options;
  options.max_rank = 0;
  EXPECT_THROW(complete_implicit(entries, options), InvalidArgument);
  const CompletionResult ratings = complete(entries);
  options = {};
  options.start = &ratings.model;
  EXPECT_THROW(complete_implicit(entries, options), InvalidArgument);
  for (const char* text : {"", "linear", "linear:", "linear:x", "linear:-1", "linear:1:2", "log:1", "log:1:0",
                           "log:1:2:3", "cubic:1", "linear:nan"})
    EXPECT_THROW(parse_confidence(text), InvalidArgument) << text;
  for (const char* text : {"constant", "linear:2", "log:1.5:3"})
    EXPECT_EQ(parse_confidence(text).spec(), text);
}

TEST(Implicit, AZeroIsAsGoodAsNoEntry) {
  ObservedEntries entries = clicks(40, 20, 2, 7), with_zeros = entries;
  const CompletionResult plain = complete_implicit(entries);
  std::vector<char> taken(800, 0);
  for (std::size_t e = 0; e < entries.row.size(); ++e)
    taken[std::size_t(entries.row[e] * 20 + entries.col[e])] = 1;
  for (int place = 0; place < 800; place += 7)
    if (!taken[std::size_t(place)]) {
      with_zeros.row.push_back(place / 20);
      with_zeros.col.push_back(place % 20);
      with_zeros.value.push_back(0);
    }
  EXPECT_EQ(complete_implicit(with_zeros).model.rows.mean, plain.model.rows.mean);
}

}  // namespace
}  // namespace pursuit
