#include "pursuit/pursuit/omp.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

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
    weights = selected.colPivHouseholderQr().solve(y);
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
    if (rule.kind == WeightRule::convex) {  // weights of unit atoms sum to the radius
      const Vector sums = D.colwise().norm() * result.codes;
      EXPECT_LT((sums.array() - 2.0).abs().maxCoeff(), 1e-9);
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
  broken(2, 2) = 0;
  EXPECT_THROW(omp(broken, Matrix::Ones(4, 1), {.atoms = 1}), InvalidInput);
}

}  // namespace
}  // namespace pursuit
