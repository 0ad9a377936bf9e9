// Weights against the least squares problems that define them, with atoms as columns of a matrix Z.

#include "pursuit/weights/weight_system.hpp"

#include <rapidcheck/gtest.h>

#include <bit>

#include "linalg/decompositions.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

/// Atoms and a target in R^n.
struct Problem {
  Matrix Z;
  Vector y;

  double objective(const WeightSystem& system) const { return 0.5 * y.squaredNorm() + system.change(); }
  double objective(const Vector& alpha) const {
    return 0.5 * (y - Z.leftCols(alpha.size()) * alpha).squaredNorm();
  }
  Vector descent(const Vector& alpha) const {  // <z_i, r>
    return Z.leftCols(alpha.size()).transpose() * (y - Z.leftCols(alpha.size()) * alpha);
  }
  bool append_to(WeightSystem& system, Index i) const {
    return system.append(Z.leftCols(i).transpose() * Z.col(i), Z.col(i).squaredNorm(), Z.col(i).dot(y));
  }
  WeightSystem with_all(WeightRule rule) const {
    WeightSystem system(rule);
    for (Index i = 0; i < Z.cols(); ++i) {
      EXPECT_TRUE(append_to(system, i)) << "atom " << i;
      system.solve();
    }
    return system;
  }
};

constexpr double kNoBound = std::numeric_limits<double>::infinity();

Problem random_problem(Index n, Index r, std::uint64_t seed) {
  return {gaussian(n, r, seed), Vector(gaussian(n, 1, seed + 1000))};
}

/// Least squares over every support with non-negative weights (of sum at most `total` where total > 0):
/// exhaustive.
Vector brute_force(const Problem& problem, double total) {
  const Index r = problem.Z.cols();
  Vector best = Vector::Zero(r);
  double least = problem.objective(best);
  for (unsigned mask = 1; mask < (2U << unsigned(r)); ++mask) {
    const bool summed = ((mask >> unsigned(r)) & 1U) != 0;  // on the face where the bound holds with equality
    const Index p = std::popcount(mask) - int(summed), size = p + Index(summed);
    if (p == 0 || (summed && !(total > 0))) continue;
    std::vector<Index> support;
    for (Index i = 0; i < r; ++i)
      if (((mask >> unsigned(i)) & 1U) != 0) support.push_back(i);
    const Matrix Zp = problem.Z(Eigen::all, support);
    Matrix system = Matrix::Zero(size, size);
    Vector right = Vector::Constant(size, total);
    system.topLeftCorner(p, p) = Zp.transpose() * Zp;
    right.head(p) = Zp.transpose() * problem.y;
    if (summed) {
      system.col(p).head(p).setOnes();
      system.row(p).head(p).setOnes();
    }
    const Vector solution = least_squares(system, right).col(0).head(p);
    if (solution.minCoeff() < 0 || (total > 0 && !summed && solution.sum() > total)) continue;
    Vector alpha = Vector::Zero(r);
    alpha(support) = solution;
    if (const double f = problem.objective(alpha); f < least) {
      least = f;
      best = alpha;
    }
  }
  return best;
}

TEST(WeightSystem, FreeWeightsAreLeastSquares) {
  for (const Index r : {1, 3, 12, 20}) {
    const Problem problem = random_problem(25, r, std::uint64_t(r));
    const WeightSystem system = problem.with_all(WeightRule::free);
    EXPECT_LT(max_difference(system.weights(), least_squares(problem.Z, problem.y)), 1e-11);
    EXPECT_NEAR(problem.objective(system), problem.objective(system.weights()), 1e-12);
    EXPECT_EQ(system.size(), r);
  }
}

TEST(WeightSystem, NewestWeightIsMatchingPursuit) {
  const Problem problem = random_problem(10, 5, 1);
  WeightSystem system(WeightRule::newest);
  Vector residual = problem.y;
  for (Index i = 0; i < 5; ++i) {
    ASSERT_TRUE(problem.append_to(system, i));
    system.solve();
    const Vector z = problem.Z.col(i);
    const double alpha = z.dot(residual) / z.squaredNorm();
    residual -= alpha * z;
    EXPECT_NEAR(system.weights()[i], alpha, 1e-12);
    EXPECT_NEAR(problem.objective(system), 0.5 * residual.squaredNorm(), 1e-12);
  }
}

TEST(WeightSystem, EconomicWeightsAreTheBestTwoNumbers) {
  const Problem problem = random_problem(10, 5, 2);
  WeightSystem system(WeightRule::economic);
  Vector x = Vector::Zero(10);
  for (Index i = 0; i < 5; ++i) {
    ASSERT_TRUE(problem.append_to(system, i));
    system.solve();
    Matrix pair(10, 2);
    pair << x, problem.Z.col(i);
    const Vector best = least_squares(pair, problem.y);
    x = pair * best;
    EXPECT_LT(max_difference(problem.Z.leftCols(i + 1) * system.weights(), x), 1e-11);
  }
}

TEST(WeightSystem, EconomicWeightsTakeAnAtomAlongTheIterate) {
  const Problem problem{(Matrix(3, 2) << 1, 2, 0, 0, 0, 0).finished(), (Vector(3) << 3, 1, 0).finished()};
  const WeightSystem system = problem.with_all(WeightRule::economic);
  EXPECT_TRUE(system.weights().allFinite());
  EXPECT_NEAR(problem.objective(system), 0.5, 1e-14);
}

RC_GTEST_PROP(WeightSystem, NonnegativeWeightsAreTheBestOverAllSupports, ()) {
  const Index r = *rc::gen::inRange<Index>(1, 7);
  const Problem problem = random_problem(8, r, *rc::gen::inRange<std::uint64_t>(0, 100000));
  const Vector alpha = problem.with_all(WeightRule::nonneg).weights(), expected = brute_force(problem, 0);
  RC_ASSERT(max_difference(alpha, expected) < 1e-9);
}

TEST(WeightSystem, AnAtomThatLeavesLeavesTheOthersAtTheirBest) {
  Problem problem{Matrix(2, 2), Vector(2)};
  problem.Z << std::sqrt(0.5), 1, std::sqrt(0.5), 0;
  problem.y << 1, -0.1;
  const Vector weights = problem.with_all(WeightRule::nonneg).weights();
  EXPECT_EQ(weights[0], 0);
  EXPECT_NEAR(weights[1], 1, 1e-14);
}

RC_GTEST_PROP(WeightSystem, ConvexWeightsAreTheBestOverAllFaces, ()) {
  const Index r = *rc::gen::inRange<Index>(1, 7);
  const Problem problem = random_problem(8, r, *rc::gen::inRange<std::uint64_t>(0, 100000));
  const double radius = *rc::gen::element(0.1, 1.0, 5.0);
  const Vector alpha = problem.with_all({WeightRule::convex, radius}).weights();
  RC_ASSERT(alpha.sum() <= radius + 1e-12);
  RC_ASSERT(max_difference(alpha, brute_force(problem, radius)) < 1e-9);
}

/// Optimality on the non-negative weights: <z_i, r> = lambda where alpha_i > 0, at most lambda elsewhere,
/// with lambda >= 0, and 0 where the sum is below its bound.
void expect_optimal(const Problem& problem, const Vector& alpha, double bound, double tolerance) {
  EXPECT_GE(alpha.minCoeff(), 0);
  const Vector descent = problem.descent(alpha);
  const bool at_bound = alpha.sum() > 0 && alpha.sum() > bound * (1 - 1e-12);
  const double lambda = at_bound ? descent.dot(alpha) / alpha.sum() : 0;
  EXPECT_GE(lambda, -tolerance);
  EXPECT_LE(alpha.sum(), bound * (1 + 1e-11));
  for (Index i = 0; i < alpha.size(); ++i) {
    EXPECT_LT(descent[i], lambda + tolerance) << i;
    EXPECT_TRUE(alpha[i] == 0 || descent[i] > lambda - tolerance) << i;
  }
}

TEST(WeightSystem, ConstrainedWeightsAreOptimalForManyAtoms) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Problem problem = random_problem(60, 40, seed);
    problem.Z = problem.Z.cwiseAbs();  // strongly correlated, as the atoms of NMF are
    problem.y = problem.Z * Vector(gaussian(40, 1, seed + 7));
    expect_optimal(problem, problem.with_all(WeightRule::nonneg).weights(), kNoBound, 1e-8);
    const WeightSystem convex = problem.with_all({WeightRule::convex, 3.0});
    expect_optimal(problem, convex.weights(), 3.0, 1e-8);
  }
}

TEST(WeightSystem, ObjectiveNeverRises) {
  for (const WeightRule rule :
       {WeightRule(WeightRule::free), WeightRule(WeightRule::newest), WeightRule(WeightRule::nonneg),
        WeightRule(WeightRule::convex, 2.0), WeightRule(WeightRule::economic)}) {
    const Problem problem = random_problem(12, 10, 5);
    WeightSystem system(rule);
    double before = problem.objective(system);
    EXPECT_NEAR(before, 0.5 * problem.y.squaredNorm(), 1e-14);
    for (Index i = 0; i < 10; ++i) {
      ASSERT_TRUE(problem.append_to(system, i));
      system.solve();
      EXPECT_LE(problem.objective(system), before + 1e-13) << rule.spec() << ", atom " << i;
      EXPECT_NEAR(problem.objective(system), problem.objective(system.weights()), 1e-12) << rule.spec();
      before = problem.objective(system);
    }
  }
}

TEST(WeightSystem, RefusesADependentAtomAndStaysAsItWas) {
  Problem problem = random_problem(9, 4, 1);
  problem.Z.col(3) = problem.Z.col(0) - 2 * problem.Z.col(2);
  WeightSystem system(WeightRule::free);
  for (Index i = 0; i < 3; ++i) ASSERT_TRUE(problem.append_to(system, i));
  system.solve();
  const Vector before = system.weights();
  EXPECT_FALSE(problem.append_to(system, 3));
  EXPECT_EQ(system.size(), 3);
  system.solve();
  EXPECT_EQ(system.weights(), before);
}

TEST(WeightSystem, ADependentAtomMayHelpWhereWeightsCannotBeNegative) {
  // -z lies in the span of z, but only it can reach a target along -z.
  const Problem problem{(Matrix(2, 2) << 1, -1, 0, 0).finished(), (Vector(2) << -2, 0).finished()};
  WeightSystem system(WeightRule::nonneg);
  ASSERT_TRUE(problem.append_to(system, 0));
  system.solve();
  EXPECT_EQ(system.weights()[0], 0);
  ASSERT_TRUE(problem.append_to(system, 1));
  system.solve();
  EXPECT_NEAR(problem.objective(system), 0, 1e-15);
}

TEST(WeightSystem, ConvexWeightsKeepARadiusThatIsNextToNothing) {
  Problem problem = random_problem(8, 3, 5);
  problem.y = 1e13 * (problem.Z * Vector::Constant(3, 1.0) + 0.1 * problem.y);
  for (const double radius : {3.0, 0.01})
    EXPECT_LE(problem.with_all({WeightRule::convex, radius}).weights().sum(), radius * (1 + 1e-14));
}

TEST(WeightSystem, ConvexWeightsAreNeverWorseThanNothing) {
  // The atom leads away from the target: the best of its multiples between 0 and 5 is none of it.
  const Problem away{(Matrix(2, 1) << 1, 0).finished(), (Vector(2) << -1, 0.5).finished()};
  const WeightSystem system = away.with_all({WeightRule::convex, 5.0});
  EXPECT_EQ(system.weights()[0], 0);
  EXPECT_EQ(away.objective(system), 0.5 * away.y.squaredNorm());
  EXPECT_LE(system.ascent(-1), 0) << "and no further atom with a negative product helps";
}

TEST(WeightSystem, WeightsThatARuleDoesNotAllowAreMadeAllowedFirst) {
  // Atoms that were given with a negative weight, which fits better than any allowed one.
  const Problem problem{(Matrix(2, 1) << 1, 0).finished(), (Vector(2) << -1, 0.5).finished()};
  for (const WeightRule rule : {WeightRule(WeightRule::nonneg), WeightRule(WeightRule::convex, 1.0)}) {
    WeightSystem system(rule);
    system.reset(Matrix::Ones(1, 1), Vector::Constant(1, -1), Vector::Constant(1, -1));
    system.solve();
    EXPECT_EQ(system.weights()[0], 0) << rule.spec();
  }
}

/// Atoms of every size: the weights of z_i and of s_i z_i are those of the same points.
RC_GTEST_PROP(WeightSystem, SizesOfAtomsDoNotMatter, ()) {
  const Index r = *rc::gen::inRange<Index>(1, 7);
  const Problem problem = random_problem(8, r, *rc::gen::inRange<std::uint64_t>(0, 100000));
  const Vector sizes = Vector::NullaryExpr(r, [](Index) { return std::pow(10.0, *rc::gen::inRange(-8, 9)); });
  const Problem scaled{problem.Z * sizes.asDiagonal(), problem.y};
  const Matrix gram = scaled.Z.transpose() * scaled.Z;
  const Vector alpha = constrained_weights(gram, scaled.Z.transpose() * scaled.y, 0, Vector::Zero(r));
  RC_ASSERT(max_difference(sizes.cwiseProduct(alpha), brute_force(problem, 0)) < 1e-8);
}

TEST(WeightSystem, ConvexWeightsReachInsideTheHullWithOppositeAtoms) {
  // Frank-Wolfe on the segment from -z to z: zero belongs to it too.
  const Problem problem{(Matrix(2, 2) << 1, -1, 0, 0).finished(), (Vector(2) << 0.1, 0).finished()};
  WeightSystem system(WeightRule::convex);
  ASSERT_TRUE(problem.append_to(system, 0));
  system.solve();
  ASSERT_TRUE(problem.append_to(system, 1));
  system.solve();
  EXPECT_NEAR(problem.objective(system), 0, 1e-15);
  EXPECT_LT(max_difference(system.weights(), (Vector(2) << 0.1, 0).finished()), 1e-14);
}

TEST(WeightSystem, ResetTakesDependentAtomsAndGoesOn) {
  for (const WeightRule rule :
       {WeightRule(WeightRule::free), WeightRule(WeightRule::newest), WeightRule(WeightRule::nonneg),
        WeightRule(WeightRule::convex, 2.0), WeightRule(WeightRule::economic)}) {
    SCOPED_TRACE(rule.spec());
    Problem problem = random_problem(9, 5, 3);
    problem.Z.col(2) = problem.Z.col(1);  // a correction made two atoms equal
    WeightSystem system(rule);
    const Matrix Z = problem.Z.leftCols(3);
    const Vector weights = Vector::Constant(3, 2.0 / 3);
    system.reset(Z.transpose() * Z, Z.transpose() * problem.y, weights);
    EXPECT_EQ(system.weights(), weights);
    EXPECT_NEAR(problem.objective(system), problem.objective(weights), 1e-12);
    for (Index i = 3; i < 5; ++i) {
      const double before = problem.objective(system);
      ASSERT_TRUE(problem.append_to(system, i));
      system.solve();
      EXPECT_TRUE(system.weights().allFinite());
      EXPECT_LE(problem.objective(system), before + 1e-12);
      EXPECT_NEAR(problem.objective(system), problem.objective(system.weights()), 1e-11);
    }
    if (rule.kind == WeightRule::free) {
      const Vector residual = problem.y - problem.Z * system.weights();
      EXPECT_LT((problem.Z.transpose() * residual).cwiseAbs().maxCoeff(), 1e-10) << "still a projection";
    }
    if (!rule.allows_negative())
      expect_optimal(problem, system.weights(), rule.kind == WeightRule::convex ? 2.0 : kNoBound, 1e-8);
  }
}

TEST(WeightSystem, ResetToNothingStartsAgain) {
  const Problem problem = random_problem(9, 2, 3);
  WeightSystem system = problem.with_all(WeightRule::free);
  system.reset(Matrix(0, 0), Vector(0), Vector(0));
  EXPECT_EQ(system.size(), 0);
  EXPECT_NEAR(problem.objective(system), 0.5 * problem.y.squaredNorm(), 1e-14);
  system.solve();
  EXPECT_TRUE(problem.append_to(system, 0));
}

TEST(WeightSystem, AscentIsWhatTheRuleAllows) {
  const Problem problem = random_problem(9, 3, 4);
  for (const auto kind : {WeightRule::free, WeightRule::newest, WeightRule::economic})
    EXPECT_EQ(problem.with_all(kind).ascent(-2), 2);
  EXPECT_EQ(problem.with_all(WeightRule::nonneg).ascent(-2), -2);
  EXPECT_EQ(WeightSystem({WeightRule::convex, 2.0}).ascent(-2), -2);
  const WeightSystem convex = problem.with_all({WeightRule::convex, 2.0});
  const double along_x = problem.descent(convex.weights()).dot(convex.weights()) / 2;
  EXPECT_NEAR(convex.ascent(3), 3 - along_x, 1e-12);
  EXPECT_NEAR(convex.ascent(problem.descent(convex.weights()).maxCoeff()), 0, 1e-12)
      << "no gap over the atoms already there";
  EXPECT_NEAR(convex.ascent(-3), -along_x, 1e-12) << "zero is a point of the hull";
}

TEST(WeightSystem, MovesLikeAValue) {
  const Problem problem = random_problem(9, 3, 4);
  WeightSystem first = problem.with_all(WeightRule::free);
  const Vector weights = first.weights();
  WeightSystem second = std::move(first);
  EXPECT_EQ(second.weights(), weights);
  EXPECT_EQ(second.rule().spec(), "free");
}

}  // namespace
}  // namespace pursuit
