#include "pursuit/algorithms/omp.hpp"

#include <gtest/gtest.h>

#include "linalg/decompositions.hpp"
#include "pursuit/algorithms/coherence.hpp"
#include "pursuit/algorithms/dictionary_space.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

Matrix random_dictionary(Index d, Index N, std::uint64_t seed) {
  Random random(seed);
  return random.gaussian_matrix(d, N);
}

/// Orthogonal matching pursuit as in a textbook: refit by least squares, pick the largest normalised
/// correlation.
Vector textbook_omp(const Matrix& D, const Vector& y, Index atoms) {
  std::vector<Index> chosen;
  Vector residual = y, weights;
  Matrix selected(D.rows(), 0);
  for (Index r = 0; r < atoms; ++r) {
    const Vector score = (D.transpose() * residual).cwiseAbs().cwiseQuotient(D.colwise().norm().transpose());
    Index best = 0;
    score.maxCoeff(&best);
    chosen.push_back(best);
    selected.conservativeResize(Eigen::NoChange, r + 1);
    selected.col(r) = D.col(best);
    weights = least_squares(selected, y);
    residual = y - selected * weights;
  }
  Vector code = Vector::Zero(D.cols());
  for (std::size_t i = 0; i < chosen.size(); ++i) code[chosen[i]] = weights[Index(i)];
  return code;
}

TEST(Omp, EqualsTheTextbookOnABatchAndOnSingleSignals) {
  const Matrix D = random_dictionary(20, 60, 1);
  Random random(2);
  const Matrix Y = random.gaussian_matrix(20, 30);
  const OmpResult batch = omp(D, Y, {.atoms = 8});
  for (Index s = 0; s < Y.cols(); ++s) {
    const Vector expected = textbook_omp(D, Y.col(s), 8);
    EXPECT_LT((Vector(batch.codes.col(s)) - expected).norm(), 1e-8 * expected.norm());
    EXPECT_NEAR(batch.relative_errors[s], (Y.col(s) - D * expected).norm() / Y.col(s).norm(), 1e-7);
  }
  const OmpResult single = omp(D, Y.col(3), {.atoms = 8});  // few signals: Gram columns on demand
  EXPECT_LT((Vector(single.codes.col(0)) - Vector(batch.codes.col(3))).norm(), 1e-10);
}

TEST(Omp, RecoversPlantedCodesExactly) {
  const Matrix D = random_dictionary(64, 100, 3);
  Eigen::SparseMatrix<double> planted(100, 5);
  Random random(4);
  for (int s = 0; s < 5; ++s)
    for (int i = 0; i < 4; ++i) planted.coeffRef(int(random.below(100)), s) = 1 + random.uniform();
  const OmpResult result = omp(D, D * planted, {.atoms = 12});
  EXPECT_LT((Matrix(result.codes) - Matrix(planted)).norm(), 1e-6);
  for (const Stop stop : result.stops) EXPECT_TRUE(stop == Stop::no_ascent || stop == Stop::target_error);
}

TEST(Omp, ThreadsDoNotChangeABit) {
  const Matrix D = random_dictionary(20, 50, 5), Y = random_dictionary(20, 40, 6);
  const Matrix one = Matrix(omp(D, Y, {.atoms = 6, .threads = 1}).codes);
  for (const int threads : {2, 4}) EXPECT_EQ(one, Matrix(omp(D, Y, {.atoms = 6, .threads = threads}).codes));
}

TEST(Omp, EveryWeightRuleLowersTheErrorAndKeepsItsConstraint) {
  const Matrix D = random_dictionary(15, 40, 7).cwiseAbs(), Y = random_dictionary(15, 10, 8).cwiseAbs();
  const double start = Y.norm();
  for (const auto rule :
       {WeightRule(WeightRule::free), WeightRule(WeightRule::newest), WeightRule(WeightRule::nonneg),
        WeightRule(WeightRule::economic), WeightRule(WeightRule::convex, 2.0)}) {
    const OmpResult result = omp(D, Y, {.atoms = 6, .weights = rule});
    EXPECT_LT((Y - D * result.codes).norm(), start) << rule.spec();
    EXPECT_TRUE(rule.allows_negative() || Matrix(result.codes).minCoeff() >= 0) << rule.spec();
    if (rule.kind == WeightRule::convex) {  // weights of unit atoms sum to the radius at most
      const Vector sums = D.colwise().norm() * result.codes;
      EXPECT_LT(sums.maxCoeff(), 2 + 1e-9);
    }
  }
}

TEST(Omp, TargetErrorStopsEarlyAndZeroSignalsGetNoAtoms) {
  const Matrix D = random_dictionary(20, 50, 9);
  Matrix Y = random_dictionary(20, 2, 10);
  Y.col(1).setZero();
  const OmpResult result = omp(D, Y, {.atoms = 20, .target_error = 0.5});
  EXPECT_EQ(result.stops[0], Stop::target_error);
  EXPECT_LE(result.relative_errors[0], 0.5);
  EXPECT_EQ(Matrix(result.codes).col(1).norm(), 0);
  EXPECT_EQ(result.relative_errors[1], 0);
}

TEST(Omp, BadInputIsNamed) {
  const Matrix D = Matrix::Identity(4, 4);
  EXPECT_THROW(omp(D, Matrix::Ones(5, 1), {.atoms = 1}), InvalidArgument);
  EXPECT_THROW(omp(D, Matrix::Ones(4, 1), {.atoms = 5}), InvalidArgument);
  EXPECT_THROW(omp(D, Matrix::Ones(4, 1), {.atoms = 0}), InvalidArgument);
  EXPECT_THROW(omp(D, Matrix::Ones(4, 1), {.atoms = 1, .target_error = 2}), InvalidArgument);
  Matrix broken = D;
  broken(2, 2) = std::nan("");
  EXPECT_THROW(omp(broken, Matrix::Ones(4, 1), {.atoms = 1}), InvalidInput);
}

TEST(Omp, AZeroColumnGetsNoCoefficient) {
  Matrix D = random_dictionary(10, 20, 11);
  const Matrix Y = random_dictionary(10, 6, 12);
  const Matrix plain = Matrix(omp(D, Y, {.atoms = 4}).codes);
  Matrix padded(10, 21);
  padded << D.leftCols(5), Vector::Zero(10), D.rightCols(15);
  const OmpResult result = omp(padded, Y, {.atoms = 4});
  const Matrix codes(result.codes);
  EXPECT_EQ(codes.row(5).norm(), 0);
  EXPECT_LT(
      (codes.topRows(5) - plain.topRows(5)).norm() + (codes.bottomRows(15) - plain.bottomRows(15)).norm(),
      1e-12);
  for (const auto rule : {WeightRule(WeightRule::newest), WeightRule(WeightRule::convex)})
    EXPECT_EQ(omp(Matrix::Zero(4, 3), Matrix::Ones(4, 1), {.atoms = 2, .weights = rule}).codes.nonZeros(), 0);
}

TEST(Omp, DependentColumnsAreTold) {
  // Two directions only; the third column the oracle could want is a combination of the first two.
  Matrix D(3, 3);
  D << 1, 0, 1, 0, 1, 1e-7, 0, 0, 1e-7;
  const Vector y = (Vector(3) << 1, 1, 1).finished();
  const OmpResult result = omp(D, y, {.atoms = 3});
  EXPECT_EQ(result.stops[0], Stop::dependent_atom);
  EXPECT_EQ(result.codes.nonZeros(), 2);
}

TEST(Omp, ConvexWeightsOfAZeroSignalAreZero) {
  Matrix Y = random_dictionary(6, 2, 13);
  Y.col(0).setZero();
  const Matrix D = random_dictionary(6, 9, 14).cwiseAbs();
  const OmpResult result = omp(D, Y, {.atoms = 3, .weights = {WeightRule::convex, 2.0}});
  for (Index s = 0; s < 2; ++s) {
    const double error = (Y.col(s) - D * Vector(result.codes.col(s))).norm();
    EXPECT_NEAR(result.relative_errors[s], s == 0 ? error : error / Y.col(s).norm(), 1e-12) << s;
    EXPECT_LE(result.relative_errors[s], 1);
  }
}

TEST(Omp, TakesDictionariesInEitherOrderWithoutACopy) {
  const Matrix D = random_dictionary(15, 40, 15), Y = random_dictionary(15, 8, 16), turned = D.transpose();
  const DenseView<double> by_rows{turned.data(), 15, 40, 40, true};
  const Matrix expected = Matrix(omp(D, Y, {.atoms = 5}).codes);
  EXPECT_LT((Matrix(omp(by_rows, Y, {.atoms = 5}).codes) - expected).norm(), 1e-10);
  EXPECT_LT((Matrix(omp(by_rows, Y.leftCols(1), {.atoms = 2}).codes) -
             Matrix(omp(D, Y.leftCols(1), {.atoms = 2}).codes))
                .norm(),
            1e-10)
      << "products as needed";
}

TEST(UnitColumns, KeepInnerProductsOnlyWhereTheyTakeLittleMemory) {
  const Matrix small = random_dictionary(20, 60, 17), wide = random_dictionary(3, 4200, 18);
  EXPECT_TRUE(UnitColumns(view_of(small), true).keeps_gram());
  EXPECT_FALSE(UnitColumns(view_of(small), false).keeps_gram());
  const UnitColumns columns(view_of(wide), true);
  EXPECT_FALSE(columns.keeps_gram()) << "a thousand times the memory of the dictionary";
  Vector scratch;
  const Matrix unit = columns.columns(0, 4200);
  const double* products = columns.gram_column(1234, scratch);
  EXPECT_LT(
      (Eigen::Map<const Vector>(products, 4200) - unit.transpose() * unit.col(1234)).cwiseAbs().maxCoeff(),
      1e-14);
}

TEST(Omp,
     ManySignalsOverAWideDictionaryEqualTheTextbook) {  // more than are held at a time, products as needed
  const Matrix D = random_dictionary(4, 4200, 19), Y = random_dictionary(4, 1100, 20);
  const OmpResult result = omp(D, Y, {.atoms = 3});
  for (const Index s : {Index(0), Index(997), Index(998), Index(1099)}) {
    const Vector expected = textbook_omp(D, Y.col(s), 3);
    EXPECT_LT((Vector(result.codes.col(s)) - expected).norm(), 1e-10 * expected.norm()) << s;
  }
}

TEST(Omp, SignalsInStepEndAsTheyWouldOneByOne) {
  // The same columns, in a dictionary that is small enough for all inner products and in one that is not.
  Matrix some = random_dictionary(9, 40, 21);
  some.rowwise() -= some.colwise().mean().eval();
  Matrix D(9, 4200);
  D << some, 1e-3 * Matrix::Ones(9, 4160);  // orthogonal to all signals
  Matrix Y = some * thinned(gaussian(40, 500, 22), 0.1, 23);
  Y.col(3).setZero();
  for (const auto rule : {WeightRule(WeightRule::free), WeightRule(WeightRule::newest),
                          WeightRule(WeightRule::nonneg), WeightRule(WeightRule::convex, 2.0)}) {
    const OmpOptions options{.atoms = 6, .weights = rule, .target_error = 0.05, .threads = 1};
    const OmpResult alone = omp(some, Y, options), in_step = omp(D, Y, options);
    EXPECT_LT(max_difference(Matrix(in_step.codes).topRows(40), Matrix(alone.codes)), 1e-9);
    EXPECT_LT(max_difference(in_step.relative_errors, alone.relative_errors), 1e-7);
    EXPECT_EQ(in_step.stops, alone.stops);
    for (const int threads : {2, 3, 16}) {
      OmpOptions shared = options;
      shared.threads = threads;
      const OmpResult many = omp(D, Y, shared);
      EXPECT_TRUE(same_bits(Matrix(many.codes), Matrix(in_step.codes))) << threads << " threads";
    }
  }
}

TEST(Omp, ScalesOfSignalsAndOfTheDictionaryDoNotMatter) {
  const Matrix D = gaussian(20, 40, 1), Y = gaussian(20, 3, 2);
  for (const WeightRule rule : {WeightRule(WeightRule::free), WeightRule(WeightRule::nonneg)}) {
    const OmpResult expected = omp(D, Y, {.atoms = 4, .weights = rule});
    for (const int exponent : {-1000, -530, -90, 90, 530, 1000}) {
      SCOPED_TRACE(exponent);
      const double scale = std::ldexp(1.0, exponent);
      const OmpResult signals = omp(D, Matrix(scale * Y), {.atoms = 4, .weights = rule});
      EXPECT_TRUE(same_bits(Matrix(signals.codes), Matrix(scale * Matrix(expected.codes))));
      EXPECT_TRUE(same_bits(signals.relative_errors, expected.relative_errors));
      const OmpResult dictionary = omp(Matrix(scale * D), Matrix(scale * Y), {.atoms = 4, .weights = rule});
      EXPECT_LT(max_difference(Matrix(dictionary.codes), Matrix(expected.codes)), 1e-12);
      EXPECT_LT(max_difference(dictionary.relative_errors, expected.relative_errors), 1e-12);
    }
  }
}

TEST(Certificate, HoldsInEveryUnit) {
  const Matrix D = gaussian(20, 8, 1);
  const Vector y = gaussian(20, 1, 2);
  for (const int exponent : {-1000, -530, 0, 530, 1000})
    EXPECT_TRUE(certify_omp(D, Vector(std::ldexp(1.0, exponent) * y), 5).holds) << exponent;
}

}  // namespace
}  // namespace pursuit
