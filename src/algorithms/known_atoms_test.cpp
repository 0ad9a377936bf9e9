// Factorizations that begin with given atoms, keep known ones, or have a set for every atom.

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

/// Three non-negative atoms and a little noise.
struct Mixture {
  Matrix left = uniform(40, 3, 1), right = uniform(25, 3, 2);
  Matrix Y = left * right.transpose() + 0.01 * gaussian(40, 25, 3);
};

Expansion atoms_of(const Matrix& left, const Matrix& right) {
  return {left, right, Vector::Ones(left.cols())};
}

TEST(KnownAtoms, StayAsTheyAre) {
  const Mixture mixture;
  for (const WeightRule rule : {WeightRule::free, WeightRule::nonneg}) {
    FactorOptions options{.rank = 3, .left = nonneg(), .right = nonneg(), .weights = rule};
    options.initial = atoms_of(mixture.left.leftCols(2), mixture.right.leftCols(2));
    options.fixed = 2;
    const FactorResult result = factor(mixture.Y, options);
    EXPECT_EQ(max_difference(result.model.left().leftCols(2), mixture.left.leftCols(2)), 0);
    EXPECT_EQ(max_difference(result.model.right().leftCols(2), mixture.right.leftCols(2)), 0);
    EXPECT_NEAR(result.model.weights[0], 1, 0.1);
    EXPECT_LT(result.relative_error, 0.02);
    EXPECT_LT((mixture.right.col(2).normalized() - result.model.right().col(2)).norm(), 0.15);
  }
}

TEST(KnownAtoms, MayBeKnownOnOneSideOnly) {
  const Mixture mixture;
  FactorOptions options{.rank = 3, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg};
  options.initial = atoms_of(Matrix::Zero(40, 3), mixture.right);
  options.fixed = 3;
  options.fixed_factors = FixedFactors::right;
  const FactorResult right = factor(mixture.Y, options);
  EXPECT_EQ(max_difference(right.model.right(), mixture.right), 0);
  EXPECT_LT((right.model.scaled_left() - mixture.left).norm() / mixture.left.norm(), 0.05);
  for (const auto& u : right.model.left().colwise()) EXPECT_TRUE(nonneg()->contains(u));

  options.initial = atoms_of(mixture.left, Matrix::Zero(25, 3));
  options.fixed_factors = FixedFactors::left;
  const FactorResult left = factor(mixture.Y, options);
  EXPECT_EQ(max_difference(left.model.left(), mixture.left), 0);
  EXPECT_LT(
      (left.model.right() * left.model.weights.asDiagonal() - mixture.right).norm() / mixture.right.norm(),
      0.05);
}

TEST(KnownAtoms, OfNoUseKeepTheirPlaceWithoutWeight) {
  const Mixture mixture;
  FactorOptions options{.rank = 2, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg};
  options.initial = atoms_of(-mixture.left.leftCols(1), mixture.right.leftCols(1));
  options.fixed = 1;
  const FactorResult result = factor(mixture.Y, options);
  ASSERT_EQ(result.model.rank(), 2);
  EXPECT_EQ(result.model.weights[0], 0);
  EXPECT_EQ(max_difference(result.model.left().col(0), -mixture.left.col(0)), 0);
}

TEST(KnownAtoms, OfSymmetricMatricesStayToo) {
  const Matrix U = uniform(20, 2, 4), C = U * U.transpose();
  FactorOptions options{.rank = 2, .left = nonneg(), .weights = WeightRule::nonneg};
  options.initial = atoms_of(U.leftCols(1), U.leftCols(1));
  options.fixed = 1;
  const FactorResult result = factor_symmetric(C, options);
  EXPECT_EQ(max_difference(result.model.left().col(0), U.col(0)), 0);
  EXPECT_LT(result.relative_error, 0.05);
}

TEST(InitialAtoms, AreWhereTheRunGoesOn) {
  const Matrix Y = gaussian(30, 20, 5);
  const FactorOptions three{.rank = 3, .right = sparse(5)};
  const FactorResult first = factor(Y, three);
  FactorOptions more{.rank = 6, .right = sparse(5)};
  more.initial = first.model;
  const FactorResult second = factor(Y, more);
  EXPECT_EQ(second.model.rank(), 6);
  EXPECT_NEAR(second.trace.front().relative_error, first.relative_error, 1e-9);
  EXPECT_LT(second.relative_error, first.relative_error - 0.01);
}

TEST(InitialAtoms, AreBroughtIntoTheSets) {
  const Matrix Y = uniform(12, 9, 6);
  FactorOptions options{
      .rank = 2, .left = nonneg(), .right = nonneg() + sparse(4), .weights = WeightRule::nonneg};
  options.initial = atoms_of(gaussian(12, 2, 7), gaussian(9, 2, 8));
  options.corrections = options.polish = 0;
  const FactorResult result = factor(Y, options);
  for (const auto& u : result.model.left().colwise()) EXPECT_TRUE(options.left->contains(u));
  for (const auto& v : result.model.right().colwise()) EXPECT_TRUE(options.right->contains(v));
}

TEST(InitialAtoms, MayBeTheSameTwice) {
  const Mixture mixture;
  FactorOptions options{.rank = 4, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg};
  options.initial = atoms_of(mixture.left.col(0).replicate(1, 2), mixture.right.col(0).replicate(1, 2));
  const FactorResult result = factor(mixture.Y, options);
  EXPECT_TRUE(result.model.left().allFinite() && result.model.weights.allFinite());
  EXPECT_LT(result.relative_error, 0.02);
}

TEST(InitialAtoms, ThatMakeNoSenseAreRefused) {
  const Matrix Y = uniform(12, 9, 6);
  const auto refusal = [&](Expansion initial, Index fixed, FixedFactors factors = FixedFactors::both,
                           Index rank = 2) {
    FactorOptions options{.rank = rank};
    options.initial = std::move(initial);
    options.fixed = fixed;
    options.fixed_factors = factors;
    return message_of<InvalidArgument>([&] { factor(Y, options); });
  };
  const Expansion fine = atoms_of(uniform(12, 2, 1), uniform(9, 2, 2));
  EXPECT_THAT(refusal(fine, 3), HasSubstr("fixed 3: 2 atoms were given; allowed are 0..2"));
  EXPECT_THAT(refusal(fine, 1, FixedFactors::both, 1), HasSubstr("rank 1: 2 atoms were given"));
  EXPECT_THAT(refusal(atoms_of(uniform(9, 2, 1), uniform(12, 2, 2)), 0),
              HasSubstr("atoms of 9 x 12 do not fit"));
  EXPECT_THAT(refusal(atoms_of(Matrix::Zero(12, 2), uniform(9, 2, 2)), 0),
              HasSubstr("left factor of atom 1 is zero"));
  EXPECT_THAT(refusal(atoms_of(uniform(12, 2, 1), Matrix::Zero(9, 2)), 2, FixedFactors::right),
              HasSubstr("right factor of atom 1 is zero"));
  Expansion bad = fine;
  bad.left()(3, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(bad, 0), HasSubstr("not finite"));
}

TEST(PerAtom, EveryAtomHasItsOwnBound) {
  const Matrix Y = gaussian(30, 20, 9);
  const Atoms list = per_atom({sparse(9), sparse(6), sparse(2)});
  for (const auto& [rank, corrections] : {std::pair<Index, int>{5, 0}, {5, 2}}) {
    FactorOptions options{.rank = rank, .right = list};
    options.corrections = corrections;
    const FactorResult result = factor(Y, options);
    ASSERT_EQ(result.model.rank(), 5);
    for (Index i = 0; i < 5; ++i)
      EXPECT_EQ((result.model.right().col(i).array() != 0).count(), i == 0 ? 9 : i == 1 ? 6 : 2) << i;
  }
  FactorOptions leading{.rank = 3, .right = list, .start = Start::leading};
  const FactorResult result = factor(Y, leading);
  for (Index i = 0; i < 3; ++i) EXPECT_TRUE(list.of(i).contains(result.model.right().col(i))) << i;
}

TEST(PerAtom, ServesPrincipalComponentsAsItServesFactors) {
  const Matrix A = gaussian(40, 15, 10);
  const PcaResult result =
      pca(data_matrix(A), {.components = 3, .atoms = per_atom({sparse(8), sparse(5), sparse(1)})});
  EXPECT_LE((result.loadings.col(0).array() != 0).count(), 8);
  EXPECT_LE((result.loadings.col(1).array() != 0).count(), 5);
  EXPECT_EQ((result.loadings.col(2).array() != 0).count(), 1);
}

TEST(Pca, RefusesSetsWhoseMembersAreNoUnitVectors) {
  const Matrix A = gaussian(10, 6, 11);
  EXPECT_THAT(
      message_of<InvalidArgument>([&] { pca(data_matrix(A), {.components = 1, .atoms = simplex()}); }),
      HasSubstr("simplex: loadings are unit vectors"));
}

TEST(RankOneOracle, ComparesDirectionsWhereMembersDifferInNorm) {
  // The ball of the 1-norm holds every direction: with free weights a single atom is the leading singular
  // pair.
  const Matrix Y = gaussian(12, 8, 12);
  const double best = factor(Y, {.rank = 1}).relative_error;
  FactorOptions options{.rank = 1, .left = lp(1), .right = lp(1)};
  EXPECT_NEAR(factor(Y, options).relative_error, best, 1e-4);
  // With convex weights it is the vertex of largest inner product: one entry of the matrix.
  options.weights = WeightRule(WeightRule::convex, 1.0);
  options.corrections = options.polish = 0;
  options.restarts = 40;  // there are as many vertices that are better than their neighbours as rows
  const FactorResult vertex = factor(Y, options);
  Index row = 0, col = 0;
  Y.cwiseAbs().maxCoeff(&row, &col);
  EXPECT_EQ(std::abs(vertex.model.left()(row, 0) * vertex.model.right()(col, 0)), 1);
}

TEST(KnownAtoms, WeightsBeyondAllNumbersAreRefused) {
  const Matrix Y = gaussian(8, 6, 1);
  const Expansion huge{Vector::Unit(8, 0), Vector::Unit(6, 0), Vector::Constant(1, 1e308)};
  EXPECT_THAT(message_of<InvalidArgument>([&] { factor(Y, {.rank = 2, .initial = huge, .fixed = 1}); }),
              testing::HasSubstr("weight 1e+308 is too large"));
}

}  // namespace
}  // namespace pursuit
