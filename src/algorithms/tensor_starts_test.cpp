// Starts of arrays, known factors, prices and what is said about atoms that cancel.

#include "pursuit/algorithms/degeneracy.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/atoms/structures.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

AtomSets same_sets(const Atoms& set, Index modes) {
  std::vector<Index> panel_of;
  for (Index m = 0; m < modes; ++m) panel_of.push_back(m);
  return {std::vector<Atoms>(std::size_t(modes), set), panel_of};
}

PlainTensor noisy_tensor(const std::vector<Index>& shape, Index rank, double noise, std::uint64_t seed) {
  PlainTensor t = dense({random_factors(shape, rank, seed, true), Vector::Ones(rank)});
  const Matrix error = gaussian(t.count(), 1, seed + 50);
  const double scale = noise * t.norm() / error.norm();
  for (std::size_t e = 0; e < t.values.size(); ++e) t.values[e] += scale * error(Index(e), 0);
  return t;
}

/// e1 e1 e2 + e1 e2 e1 + e2 e1 e1: of rank 3, with approximations of rank 2 as good as one likes.
PlainTensor border_tensor() {
  PlainTensor t({2, 2, 2});
  t.values[1] = t.values[2] = t.values[4] = 1;
  return t;
}

TEST(TensorStarts, ASearchIsNoWorseThanTheGreedyAtomsAlone) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const PlainTensor t = noisy_tensor({30, 20, 25}, 4, 0.05, seed);
    const FactorOptions options{.rank = 4, .weights = WeightRule::nonneg, .polish = 200};
    const AtomSets sets = same_sets(nonneg(), 3);
    const double greedy = factor_tensor(as_dense_target(t), sets, options, {.starts = 0}).relative_error;
    const FactorResult searched = factor_tensor(as_dense_target(t), sets, options);
    EXPECT_LE(searched.relative_error, greedy * (1 + 1e-4));
    double last = 1;
    for (const Step& step : searched.trace) {
      EXPECT_LE(step.relative_error, last * (1 + 1e-12));
      last = step.relative_error;
    }
    EXPECT_NEAR(searched.relative_error, distance(t, dense(searched.model)) / t.norm(), 1e-9);
  }
}

TEST(TensorStarts, ASearchGivesTheSameBitsForAnyNumberOfThreads) {
  const PlainTensor t = noisy_tensor({60, 50, 40}, 3, 0.1, 1);
  const AtomSets sets = same_sets(nonneg(), 3);
  const auto run = [&](int threads) {
    return factor_tensor(
        as_dense_target(t, threads), sets,
        {.rank = 3, .weights = WeightRule::nonneg, .start = Start::leading, .polish = 20, .threads = threads},
        {.starts = 3});
  };
  const FactorResult one = run(1);
  for (const int threads : {2, 3, 16}) {
    const FactorResult many = run(threads);
    for (Index m = 0; m < 3; ++m) EXPECT_TRUE(same_bits(one.model.factors[m], many.model.factors[m]));
    EXPECT_TRUE(same_bits(one.model.weights, many.model.weights));
  }
}

TEST(TensorStarts, ATimeLimitEndsTheSearch) {
  const PlainTensor t = noisy_tensor({60, 50, 40}, 8, 0.3, 1);
  const FactorResult result =
      factor_tensor(as_dense_target(t), same_sets(nonneg(), 3),
                    {.rank = 8, .weights = WeightRule::nonneg, .time_limit = 0.05}, {.starts = 1000});
  EXPECT_EQ(result.stop, Stop::time_limit);
  EXPECT_LT(result.seconds, 10);
  EXPECT_NEAR(result.relative_error, distance(t, dense(result.model)) / t.norm(), 1e-9);
}

TEST(TensorStarts, NumbersFarFromOneGiveTheSameAtoms) {
  const PlainTensor t = noisy_tensor({12, 10, 8}, 3, 0.1, 4);
  for (const double scale : {0x1p600, 0x1p-600}) {
    PlainTensor far = t;
    for (double& x : far.values) x *= scale;
    for (const bool sparse : {false, true}) {
      const auto target = [&](const PlainTensor& array) {
        return sparse ? sparse_tensor(listed(array)) : as_dense_target(array);
      };
      const FactorOptions options{.rank = 3, .weights = WeightRule::nonneg, .polish = 30};
      const FactorResult near = factor_tensor(target(t), same_sets(nonneg(), 3), options);
      const FactorResult result = factor_tensor(target(far), same_sets(nonneg(), 3), options);
      for (Index m = 0; m < 3; ++m)
        EXPECT_LT(max_difference(result.model.factors[m], near.model.factors[m]), 1e-6);
      EXPECT_LT(max_difference(result.model.weights / scale, near.model.weights),
                1e-6 * near.model.weights.norm());
      EXPECT_NEAR(result.relative_error, near.relative_error, 1e-9);
    }
  }
}

TEST(KnownFactorsOfModes, StayAsTheyAreAndTheRestIsFitted) {
  const Expansion planted(random_factors({15, 12, 10}, 3, 1, true), Vector::Ones(3));
  const PlainTensor t = dense(planted);
  for (const Start start : {Start::greedy, Start::leading})
    for (const Index known : {1, 2, 3}) {
      const Panel factors = planted.factors[1].leftCols(known);
      const FactorResult result = factor_tensor(as_dense_target(t), same_sets(nonneg(), 3),
                                                {.rank = 3,
                                                 .weights = WeightRule::nonneg,
                                                 .start = start,
                                                 .polish = 2000,
                                                 .polish_tolerance = 1e-10},
                                                {.known = {{1, factors}}});
      ASSERT_EQ(result.model.rank(), 3);
      EXPECT_TRUE(same_bits(result.model.factors[1].leftCols(known), factors));
      EXPECT_LT(result.relative_error, 0.05);
      EXPECT_NEAR(result.relative_error, distance(t, dense(result.model)) / t.norm(), 1e-9);
    }
}

TEST(KnownFactorsOfModes, KeepTheirSignsOnSpheres) {
  const PlainTensor t = gaussian_tensor({6, 5, 4}, 3);
  const Panel factors = -uniform(4, 2, 1);
  const FactorResult result =
      factor_tensor(as_dense_target(t), same_sets(sphere(), 3), {.rank = 3}, {.known = {{2, factors}}});
  EXPECT_TRUE(same_bits(result.model.factors[2].leftCols(2), factors));
}

TEST(KnownFactorsOfModes, ThatDoNotFitAreRefused) {
  const PlainTensor t = gaussian_tensor({4, 3, 2}, 1);
  const auto refusal = [&](const TensorOptions& more, const AtomSets& sets = same_sets(nonneg(), 3)) {
    return message_of<InvalidArgument>([&] { factor_tensor(as_dense_target(t), sets, {.rank = 2}, more); });
  };
  EXPECT_THAT(refusal({.known = {{3, Panel::Ones(4, 1)}}}), HasSubstr("mode 3: allowed are 0 to 2"));
  EXPECT_THAT(refusal({.known = {{1, Panel::Ones(4, 1)}}}),
              HasSubstr("mode 1 have 4 entries; the mode has 3"));
  EXPECT_THAT(refusal({.known = {{1, Panel::Ones(3, 3)}}}),
              HasSubstr("rank 2: 3 factors of mode 1 are known"));
  EXPECT_THAT(refusal({.known = {{1, Panel::Zero(3, 1)}}}), HasSubstr("that of atom 1 is zero"));
  EXPECT_THAT(refusal({.known = {{1, Panel::Ones(3, 1)}, {1, Panel::Ones(3, 1)}}}),
              HasSubstr("mode 1 twice"));
  EXPECT_THAT(refusal({.ridge = -1}), HasSubstr("ridge -1"));
  EXPECT_THAT(refusal({.ridge = std::nan("")}), HasSubstr("ridge nan"));
}

TEST(TensorRidge, ShrinksMoreTheMoreItIs) {
  const PlainTensor t = noisy_tensor({10, 9, 8}, 2, 0.1, 3);
  double last_error = 0, last_norm = std::numeric_limits<double>::max();
  for (const double ridge : {1e-6, 0.1, 1.0, 5.0}) {
    const FactorResult result =
        factor_tensor(as_dense_target(t), same_sets(sphere(), 3), {.rank = 2}, {.ridge = ridge});
    const double norm = dense(result.model).norm();
    EXPECT_GT(result.relative_error, last_error);
    EXPECT_LT(norm, last_norm);
    last_error = result.relative_error;
    last_norm = norm;
  }
}

TEST(Degeneracy, OfTheArrayOfBorderRankTwoIsSaid) {
  const PlainTensor t = border_tensor();
  const FactorOptions options{.rank = 2, .polish = 2000, .polish_tolerance = 1e-10};
  const Degeneracy free =
      degeneracy_of(factor_tensor(as_dense_target(t), same_sets(sphere(), 3), options).model);
  EXPECT_TRUE(free.is_degenerate());
  EXPECT_LT(free.congruence, -0.99);
  EXPECT_EQ(free.first, 0);
  EXPECT_EQ(free.second, 1);
  EXPECT_GT(free.condition, 10);
  EXPECT_GT(free.swelling, 10);
  const Degeneracy cured = degeneracy_of(
      factor_tensor(as_dense_target(t), same_sets(sphere(), 3), options, {.ridge = 0.05}).model);
  EXPECT_FALSE(cured.is_degenerate());
  FactorOptions nonnegative = options;
  nonnegative.weights = WeightRule::nonneg;
  EXPECT_FALSE(degeneracy_of(factor_tensor(as_dense_target(t), same_sets(nonneg(), 3), nonnegative).model)
                   .is_degenerate());
}

TEST(Degeneracy, IsThatOfTheAngles) {
  Expansion x(random_factors({4, 3, 5}, 2, 1), Vector::Ones(2));
  for (Index m = 0; m < 3; ++m) x.factors[m].col(1) = 7 * x.factors[m].col(0);
  EXPECT_NEAR(degeneracy_of(x).congruence, 1, 1e-12);
  EXPECT_FALSE(degeneracy_of(x).is_degenerate()) << "alike, but not against each other";
  x.weights[1] = -1e-3;
  EXPECT_NEAR(degeneracy_of(x).congruence, -1, 1e-12);
  EXPECT_TRUE(degeneracy_of(x).is_degenerate());
  for (Index m = 0; m < 3; ++m) x.factors[m].col(1) = Vector::Unit(x.factors[m].rows(), 0);
  x.factors[0].col(0) = Vector::Unit(4, 1);
  const Degeneracy orthogonal = degeneracy_of(x);
  EXPECT_NEAR(orthogonal.congruence, 0, 1e-12);
  EXPECT_NEAR(orthogonal.condition, 1, 1e-12);
  EXPECT_NEAR(orthogonal.swelling, 1, 1e-12);
  EXPECT_FALSE(degeneracy_of(Expansion(random_factors({4, 3, 5}, 1, 1), Vector::Ones(1))).is_degenerate());
}

}  // namespace
}  // namespace pursuit
