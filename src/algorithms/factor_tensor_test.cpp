#include "pursuit/algorithms/factor_tensor.hpp"

#include <algorithm>

#include "pursuit/atoms/structures.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

AtomSets sets_of_modes(const std::vector<Atoms>& sets) {
  std::vector<Index> panel_of;
  for (Index m = 0; m < Index(sets.size()); ++m) panel_of.push_back(m);
  return {sets, panel_of};
}

/// |cosines| of the columns of two factors, every planted one with the best found.
double worst_match(const Panel& planted, const Panel& found) {
  const Matrix cosines =
      (planted.colwise().normalized().transpose() * found.colwise().normalized()).cwiseAbs();
  return cosines.rowwise().maxCoeff().minCoeff();
}

TEST(FactorTensor, OfTwoModesIsThatOfTheMatrixBitForBit) {
  const Matrix Y = uniform(30, 20, 1);
  for (const bool nonnegative : {false, true}) {
    const Atoms left = nonnegative ? nonneg() : sparse(10), right = nonnegative ? nonneg() : sphere();
    const FactorOptions options{.rank = 4,
                                .left = left,
                                .right = right,
                                .weights = nonnegative ? WeightRule::nonneg : WeightRule::free};
    const DataMatrixPtr data = data_matrix(Y);
    const FactorResult matrix = factor(data, options);
    const FactorResult tensor =
        factor_tensor(dense_tensor(data, {30, 20}), sets_of_modes({left, right}), options);
    EXPECT_TRUE(same_bits(matrix.model.left(), tensor.model.factors[0]));
    EXPECT_TRUE(same_bits(matrix.model.right(), tensor.model.factors[1]));
    EXPECT_TRUE(same_bits(matrix.model.weights, tensor.model.weights));
  }
}

TEST(FactorTensor, FindsPlantedAtomsWhicheverWayItStarts) {
  const Expansion planted(random_factors({20, 15, 12}, 4, 1, true), Vector::Ones(4));
  PlainTensor t = dense(planted);
  const Matrix noise = 0.01 * gaussian(t.count(), 1, 2);
  for (std::size_t e = 0; e < t.values.size(); ++e) t.values[e] += noise(Index(e), 0);
  for (const Start start : {Start::greedy, Start::leading}) {
    const FactorResult result =
        factor_tensor(as_dense_target(t), sets_of_modes({nonneg(), nonneg(), nonneg()}),
                      {.rank = 4, .weights = WeightRule::nonneg, .start = start, .polish_tolerance = 1e-8});
    EXPECT_EQ(result.model.rank(), 4);
    EXPECT_LE(result.relative_error, noise.norm() / t.norm());
    for (Index m = 0; m < 3; ++m) EXPECT_GT(worst_match(planted.factors[m], result.model.factors[m]), 0.99);
  }
}

TEST(FactorTensor, PermutedModesGiveTheSameError) {
  const PlainTensor t = dense({random_factors({6, 5, 4}, 3, 1, true), Vector::Ones(3)});
  PlainTensor turned({4, 6, 5});
  for (Index e = 0; e < turned.count(); ++e) {
    const auto at = turned.position(e);
    turned.values[std::size_t(e)] = t.values[std::size_t((at[1] * 5 + at[2]) * 4 + at[0])];
  }
  const FactorOptions options{
      .rank = 3, .weights = WeightRule::nonneg, .polish = 3000, .polish_tolerance = 0};
  const AtomSets sets = sets_of_modes({nonneg(), nonneg(), nonneg()});
  EXPECT_LT(factor_tensor(as_dense_target(t), sets, options).relative_error, 1e-3);
  EXPECT_LT(factor_tensor(as_dense_target(turned), sets, options).relative_error, 1e-3);
}

TEST(FactorTensor, PermutedModesPermuteTheAtoms) {
  const Expansion planted(random_factors({9, 8, 7}, 3, 1, true), Vector::Ones(3));
  const PlainTensor t = dense(planted);
  PlainTensor turned({7, 9, 8});
  for (Index e = 0; e < turned.count(); ++e) {
    const auto at = turned.position(e);
    turned.values[std::size_t(e)] = t.values[std::size_t((at[1] * 8 + at[2]) * 7 + at[0])];
  }
  const FactorOptions options{
      .rank = 3, .weights = WeightRule::nonneg, .polish = 5000, .polish_tolerance = 1e-14};
  const AtomSets sets = sets_of_modes({nonneg(), nonneg(), nonneg()});
  const Expansion one = factor_tensor(as_dense_target(t), sets, options).model,
                  other = factor_tensor(as_dense_target(turned), sets, options).model;
  for (Index m = 0; m < 3; ++m) {
    EXPECT_GT(worst_match(one.factors[m], other.factors[(m + 1) % 3]), 0.9999);
    EXPECT_GT(worst_match(planted.factors[m], one.factors[m]), 0.9999);
  }
}

/// Theorem 1 in the space of arrays: the best atom of unit factors has at least |r| over the root of the
/// sizes of all modes but the largest, so that no step leaves more than 1 - 1 / their product of |r|^2.
TEST(FactorTensor, FallsAtLeastAtTheRateOfTheTheorem) {
  for (const auto& shape : {std::vector<Index>{3, 2, 4}, std::vector<Index>{2, 3, 2, 3}})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const PlainTensor t = gaussian_tensor(shape, seed);
      Index others = 1;
      for (const Index size : shape) others *= size;
      others /= *std::max_element(shape.begin(), shape.end());
      const FactorResult result =
          factor_tensor(as_dense_target(t), sets_of_modes(std::vector<Atoms>(shape.size(), sphere())),
                        {.rank = 6, .corrections = 0, .polish = 0, .restarts = 20});
      double last = 1;
      for (const Step& step : result.trace) {
        const double gained = step.lmo_value * step.lmo_value;
        EXPECT_GE(step.gain, 0.5 * gained * (1 - 1e-9)) << "no less than along the atom alone";
        EXPECT_LE(std::pow(step.relative_error, 2), last * (1 - 1.0 / double(others)) + 1e-12);
        last = std::pow(step.relative_error, 2);
      }
    }
}

/// Both by brute force over all directions without a negative entry.
TEST(FactorTensor, OfTwoByTwoByTwoWithoutNegativeEntriesIsTheBestThereIs) {
  constexpr int kSteps = 90;
  const auto direction = [](int i) {
    const double angle = M_PI / 2 * i / kSteps;
    return Vector((Vector(2) << std::cos(angle), std::sin(angle)).finished());
  };
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const PlainTensor t = gaussian_tensor({2, 2, 2}, seed);
    double best = 0;
    for (int i = 0; i <= kSteps; ++i)
      for (int j = 0; j <= kSteps; ++j) {
        const Vector u = direction(i), v = direction(j);
        Vector w = Vector::Zero(2);
        for (Index e = 0; e < 8; ++e) {
          const auto at = t.position(e);
          w[at[2]] += t.values[std::size_t(e)] * u[at[0]] * v[at[1]];
        }
        best = std::max(best, w.cwiseMax(0.0).norm());
      }
    const FactorResult result =
        factor_tensor(as_dense_target(t), sets_of_modes({nonneg(), nonneg(), nonneg()}),
                      {.rank = 1, .weights = WeightRule::nonneg, .corrections = 0, .polish = 0});
    EXPECT_GE(result.model.weights[0], best * (1 - 1e-3));
  }
}

/// Its value against those of power steps from random factors and from the leading vectors of unfoldings.
TEST(FactorTensor, TheOracleBeatsRandomStartsAndUnfoldings) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const PlainTensor t = gaussian_tensor({7, 6, 5}, seed);
    const TensorPtr target = as_dense_target(t);
    const auto climbed = [&](Factors z) {
      Panel out;
      for (int step = 0; step < 200; ++step)
        for (Index m = 0; m < 3; ++m) {
          target->contract(m, z, out);
          z[m] = out / out.norm();
        }
      return out.norm();
    };
    const double found = factor_tensor(target, sets_of_modes({sphere(), sphere(), sphere()}),
                                       {.rank = 1, .corrections = 0, .polish = 0, .restarts = 32})
                             .model.weights[0];
    for (std::uint64_t start = 0; start < 10; ++start)
      EXPECT_GE(found, climbed(random_factors(t.shape, 1, 100 + 10 * start)) * (1 - 1e-3)) << start;
    Factors unfolded = random_factors(t.shape, 1, 1);
    for (Index m = 0; m < 3; ++m) {
      Matrix unfolding(t.shape[std::size_t(m)], t.count() / t.shape[std::size_t(m)]);
      std::vector<Index> next(std::size_t(unfolding.rows()), 0);
      for (Index e = 0; e < t.count(); ++e) {
        const Index row = t.position(e)[std::size_t(m)];
        unfolding(row, next[std::size_t(row)]++) = t.values[std::size_t(e)];
      }
      Vector u = Vector::Ones(unfolding.rows());
      for (int step = 0; step < 500; ++step) u = (unfolding * (unfolding.transpose() * u)).normalized();
      unfolded[m] = u;
    }
    EXPECT_GE(found, climbed(unfolded) * (1 - 1e-3));
  }
}

TEST(FactorTensor, EverySetOnEveryModeDescendsAndKeepsItsMembers) {
  const std::vector<Atoms> sets{sphere(),
                                nonneg(),
                                sparse(3),
                                nonneg() + sparse(3),
                                unimodal(),
                                smooth(0.5),
                                block(2),
                                nonneg() + smooth(0.5),
                                monotone(),
                                fused(2),
                                onehot(),
                                nonneg() + unimodal(),
                                shape(Curve::convex)};
  for (const auto& shape : {std::vector<Index>{6, 7, 5}, std::vector<Index>{5, 4, 6, 4}})
    for (std::size_t s = 0; s < sets.size(); ++s)
      for (std::size_t mode = 0; mode < shape.size(); ++mode) {
        const PlainTensor t = gaussian_tensor(shape, 3 + s);
        std::vector<Atoms> of_modes(shape.size(), sphere());
        of_modes[mode] = sets[s];
        double last = 1;
        const FactorResult result =
            factor_tensor(as_dense_target(t), sets_of_modes(of_modes), {.rank = 3, .polish = 20});
        for (const Step& step : result.trace) {
          EXPECT_LE(step.relative_error, last * (1 + 1e-12));
          last = step.relative_error;
        }
        EXPECT_NEAR(result.relative_error, distance(t, dense(result.model)) / t.norm(), 1e-9);
        for (Index k = 0; k < result.model.rank(); ++k)
          EXPECT_TRUE(sets[s].of(k).contains(result.model.factors[Index(mode)].col(k), 1e-6))
              << sets[s].spec() << ", mode " << mode;
      }
}

TEST(FactorTensor, ModesMayShareTheirFactors) {
  const Panel u = uniform(8, 2, 1), v = uniform(5, 2, 2);
  const Factors shared(std::vector<Panel>{u, v}, {0, 0, 1});
  const PlainTensor t = dense({shared, Vector::Ones(2)});
  const FactorResult result = factor_tensor(as_dense_target(t), AtomSets({nonneg(), nonneg()}, {0, 0, 1}),
                                            {.rank = 2, .weights = WeightRule::nonneg, .polish = 300});
  EXPECT_EQ(result.model.factors.panels(), 2);
  EXPECT_LT(result.relative_error, 0.02);
}

/// A mode may lie between those that share their factors; and their panel need not be the first.
TEST(FactorTensor, ModesThatShareTheirFactorsNeedNotBeNeighbours) {
  for (const auto& panel_of : {std::vector<Index>{0, 1, 0}, std::vector<Index>{1, 0, 1}}) {
    std::vector<Panel> panels{uniform(8, 2, 1), uniform(5, 2, 2)};
    if (panel_of[0] == 1) std::swap(panels[0], panels[1]);
    const PlainTensor t = dense({Factors(panels, panel_of), Vector::Ones(2)});
    const auto run = [&] {
      return factor_tensor(as_dense_target(t), AtomSets({nonneg(), nonneg()}, panel_of),
                           {.rank = 2, .weights = WeightRule::nonneg, .polish = 300});
    };
    const FactorResult result = run(), again = run();
    EXPECT_LT(result.relative_error, 0.05);
    EXPECT_TRUE(same_bits(result.model.weights, again.model.weights));
    for (Index m = 0; m < 3; ++m) EXPECT_TRUE(same_bits(result.model.factors[m], again.model.factors[m]));
  }
}

TEST(FactorTensor, SparseAndDenseAgree) {
  PlainTensor t = dense({random_factors({9, 8, 7}, 3, 1, true), Vector::Ones(3)});
  Random random(5);
  for (double& x : t.values)
    if (random.uniform() < 0.5) x = 0;
  const AtomSets sets = sets_of_modes({nonneg(), nonneg(), nonneg()});
  const FactorOptions options{
      .rank = 3, .weights = WeightRule::nonneg, .polish = 200, .polish_tolerance = 1e-9};
  EXPECT_NEAR(factor_tensor(as_dense_target(t), sets, options).relative_error,
              factor_tensor(sparse_tensor(listed(t)), sets, options).relative_error, 1e-6);
}

TEST(FactorTensor, TheFirstAtomIsTheBestOfManyRandomStarts) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const PlainTensor t = gaussian_tensor({2, 2, 2}, seed);
    double best = 0;  // over a fine grid of directions
    constexpr int kSteps = 90;
    const auto direction = [](int i) {
      const double angle = M_PI * i / kSteps;
      return Vector((Vector(2) << std::cos(angle), std::sin(angle)).finished());
    };
    for (int i = 0; i < kSteps; ++i)
      for (int j = 0; j < kSteps; ++j) {
        const Vector u = direction(i), v = direction(j);
        Vector w = Vector::Zero(2);
        for (Index e = 0; e < 8; ++e) {
          const auto at = t.position(e);
          w[at[2]] += t.values[std::size_t(e)] * u[at[0]] * v[at[1]];
        }
        best = std::max(best, w.norm());
      }
    const FactorResult result =
        factor_tensor(as_dense_target(t), sets_of_modes({sphere(), sphere(), sphere()}),
                      {.rank = 1, .corrections = 0, .polish = 0});
    EXPECT_GE(result.model.weights[0], best * (1 - 1e-3));
  }
}

TEST(FactorTensor, TheSameBitsForAnyNumberOfThreads) {
  const PlainTensor t = gaussian_tensor({40, 30, 20}, 1);
  const AtomSets sets = sets_of_modes({nonneg(), sphere(), sparse(5)});
  const FactorResult one = factor_tensor(as_dense_target(t, 1), sets, {.rank = 3, .polish = 5, .threads = 1});
  for (const int threads : {2, 3, 16}) {
    const FactorResult many =
        factor_tensor(as_dense_target(t, threads), sets, {.rank = 3, .polish = 5, .threads = threads});
    for (Index m = 0; m < 3; ++m) EXPECT_TRUE(same_bits(one.model.factors[m], many.model.factors[m]));
    EXPECT_TRUE(same_bits(one.model.weights, many.model.weights));
  }
}

TEST(FactorTensor, WhatDoesNotFitIsRefused) {
  const PlainTensor t = gaussian_tensor({4, 3, 2}, 1);
  const TensorPtr target = as_dense_target(t);
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                factor_tensor(target, sets_of_modes({nonneg(), nonneg()}), {.rank = 1});
              }),
              HasSubstr("2 sets for an array of 3 modes"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                factor_tensor(target, AtomSets({nonneg(), nonneg()}, {0, 0, 1}), {.rank = 1});
              }),
              HasSubstr("modes 0 and 1 share their factors, but have sizes 4 and 3"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                factor_tensor(target, sets_of_modes({nonneg(), nonneg(), nonneg()}), {.rank = 0});
              }),
              HasSubstr("rank 0"));
}

TEST(FactorTensor, NothingHasNoAtoms) {
  const PlainTensor zero({3, 2, 2});
  const FactorResult result =
      factor_tensor(as_dense_target(zero), sets_of_modes({sphere(), sphere(), sphere()}), {.rank = 2});
  EXPECT_EQ(result.model.rank(), 0);
  EXPECT_EQ(result.stop, Stop::no_ascent);
}

}  // namespace
}  // namespace pursuit
