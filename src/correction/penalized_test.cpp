// Factors that pay for their size: the objective is the one that is written down, never rises, and ends where
// no entry can be moved for the better.

#include "pursuit/correction/penalized.hpp"

#include <cmath>
#include <limits>

#include "pursuit/base/error.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

struct Problem {
  Matrix Y;
  PenalizedFactors start;
};

Problem problem(Index n, Index m, Index r, std::uint64_t seed) {
  const auto positive = [&](Index rows, Index cols, std::uint64_t more) -> Matrix {
    return gaussian(rows, cols, seed + more).cwiseAbs();
  };
  return {positive(n, r, 1) * positive(m, r, 2).transpose() + 0.3 * positive(n, m, 3),
          {Factors(positive(n, r, 4), positive(m, r, 5))}};
}

double objective(const Matrix& Y, const ElasticNet& left, const ElasticNet& right,
                 const PenalizedFactors& factors) {
  const Matrix &W = factors.factors[0], &H = factors.factors[1];
  return 0.5 * (Y - W * H.transpose()).squaredNorm() + left.l1 * W.sum() + 0.5 * left.l2 * W.squaredNorm() +
         right.l1 * H.sum() + 0.5 * right.l2 * H.squaredNorm();
}

/// Largest gain per unit that is left in a single entry of X, with Y ~ X Z^T: 0 at a stationary point.
double slope_left(const Matrix& Y, const ElasticNet& penalty, const Matrix& X, const Matrix& Z) {
  const Matrix slope =
      (X * Z.transpose() - Y) * Z + penalty.l2 * X + Matrix::Constant(X.rows(), X.cols(), penalty.l1);
  double worst = 0;
  for (Index i = 0; i < X.size(); ++i)
    worst = std::max(worst, X.data()[i] > 0 ? std::abs(slope.data()[i]) : -slope.data()[i]);
  return worst;
}

const std::vector<std::pair<ElasticNet, ElasticNet>> kPenalties{
    {{0.3, 0}, {0.5, 0}}, {{0, 0.4}, {0, 0.1}}, {{0.2, 0.3}, {0.1, 0.6}}, {{0.5, 0}, {0, 0.5}}};

TEST(PenalizedSweeps, ObjectiveNeverRisesAndIsWhatItSays) {
  const auto [Y, start] = problem(30, 20, 4, 1);
  const TargetPtr f = matrix_target(data_matrix(Y));
  for (const auto& [left, right] : kPenalties) {
    PenalizedFactors factors = start;
    double last = objective(Y, left, right, start);
    for (int sweep = 0; sweep < 40; ++sweep) {
      penalized_sweeps(*f, left, right, {.sweeps = 1}, factors);
      const double now = objective(Y, left, right, factors);
      EXPECT_NEAR(factors.objective, now, 1e-11 * Y.squaredNorm());
      EXPECT_LE(now, last * (1 + 1e-13));
      EXPECT_GE(factors.factors[0].minCoeff(), 0);
      EXPECT_GE(factors.factors[1].minCoeff(), 0);
      last = now;
    }
  }
}

TEST(PenalizedSweeps, EndWhereNoEntryCanBeMovedForTheBetter) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto [Y, start] = problem(25, 18, 3, 100 * seed);
    const TargetPtr f = matrix_target(data_matrix(Y));
    for (const auto& [left, right] : kPenalties) {
      PenalizedFactors factors = start;
      const auto outcome = penalized_sweeps(*f, left, right, {.sweeps = 20000, .tolerance = 1e-15}, factors);
      EXPECT_TRUE(outcome.converged);
      EXPECT_LT(slope_left(Y, left, factors.factors[0], factors.factors[1]), 1e-4 * Y.norm());
      EXPECT_LT(slope_left(Y.transpose(), right, factors.factors[1], factors.factors[0]), 1e-4 * Y.norm());
    }
  }
}

TEST(PenalizedSweeps, AHeavyPenaltyLeavesNothing) {
  const auto [Y, start] = problem(12, 10, 3, 7);
  PenalizedFactors factors = start;
  penalized_sweeps(*matrix_target(data_matrix(Y)), {1e4, 0}, {1e4, 0}, {.sweeps = 200}, factors);
  EXPECT_EQ(factors.factors[0].norm() * factors.factors[1].norm(), 0);
  EXPECT_NEAR(factors.objective, 0.5 * Y.squaredNorm(), 1e-9 * Y.squaredNorm());
}

TEST(PenalizedSweeps, WithoutAPenaltyTheyAreThoseOfTheFactorization) {
  const auto [Y, start] = problem(30, 20, 4, 9);
  PenalizedFactors factors = start;
  penalized_sweeps(*matrix_target(data_matrix(Y)), {}, {}, {.sweeps = 3000, .tolerance = 1e-12}, factors);
  EXPECT_LT(slope_left(Y, {}, factors.factors[0], factors.factors[1]), 1e-3 * Y.norm());
}

/// Under another loss the same is written down and never rises.
TEST(PenalizedSweeps, OfTheItakuraSaitoDivergenceNeverRise) {
  const auto [Y, start] = problem(30, 20, 4, 1);
  const auto f = make_objective(data_matrix(Y), {.loss = Loss::itakura_saito});
  for (const auto& [left, right] : kPenalties) {
    PenalizedFactors factors = start;
    double last = std::numeric_limits<double>::infinity();
    for (int sweep = 0; sweep < 40; ++sweep) {
      penalized_sweeps(*f, left, right, {.sweeps = 1}, false, factors);
      const Matrix &W = factors.factors[0], &H = factors.factors[1];
      const Eigen::ArrayXXd ratio = Y.array() / (W * H.transpose()).array();
      const double now = (ratio - ratio.log() - 1).sum() + left.l1 * W.sum() +
                         0.5 * left.l2 * W.squaredNorm() + right.l1 * H.sum() +
                         0.5 * right.l2 * H.squaredNorm();
      EXPECT_NEAR(factors.objective, now, 1e-9 * now);
      EXPECT_LE(now, last * (1 + 1e-12));
      EXPECT_GE(std::min(W.minCoeff(), H.minCoeff()), 0);
      last = now;
    }
  }
}

TEST(PenalizedSweeps, RefuseWhatDoesNotFit) {
  const auto [Y, start] = problem(12, 10, 3, 7);
  const TargetPtr f = matrix_target(data_matrix(Y));
  PenalizedFactors negative = start, wide = start;
  negative.factors[0](0, 0) = -1;
  wide.factors[1].resize(9, 3);
  EXPECT_THROW(penalized_sweeps(*f, {}, {}, {}, negative), InvalidArgument);
  EXPECT_THROW(penalized_sweeps(*f, {}, {}, {}, wide), InvalidArgument);
  PenalizedFactors fine = start;
  EXPECT_THROW(penalized_sweeps(*f, {-1, 0}, {}, {}, fine), InvalidArgument);
  EXPECT_THROW(penalized_sweeps(*f, {}, {0, std::nan("")}, {}, fine), InvalidArgument);
}

}  // namespace
}  // namespace pursuit
