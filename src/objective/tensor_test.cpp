#include "pursuit/objective/tensor.hpp"

#include "objective/khatri_rao.hpp"
#include "pursuit/objective/full_squares.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

const std::vector<std::vector<Index>> kShapes{
    {4, 3},       {5, 4, 3},       {1, 4, 3}, {6, 1, 5},  {3, 2, 1},
    {3, 4, 2, 5}, {2, 1, 3, 1, 4}, {1, 1, 1}, {7, 20, 3}, {2, 2, 2, 2, 2, 2, 2, 2}};

/// By its definition, place by place.
Panel contracted(const PlainTensor& t, Index mode, const Factors& z) {
  Panel out = Panel::Zero(t.shape[std::size_t(mode)], z.count());
  for (Index e = 0; e < t.count(); ++e) {
    const auto at = t.position(e);
    for (Index k = 0; k < z.count(); ++k) {
      double term = t.values[std::size_t(e)];
      for (Index m = 0; m < t.modes(); ++m)
        if (m != mode) term *= z[m](at[std::size_t(m)], k);
      out(at[std::size_t(mode)], k) += term;
    }
  }
  return out;
}

PlainTensor thinned_tensor(const std::vector<Index>& shape, std::uint64_t seed) {
  PlainTensor t = gaussian_tensor(shape, seed);
  Random random(seed);
  for (double& x : t.values)
    if (random.uniform() < 0.6) x = 0;
  return t;
}

TEST(Tensor, ContractionsAreThoseOfTheDefinition) {
  for (const auto& shape : kShapes)
    for (const Index rank : {1, 3, 4, 17, 21}) {
      const PlainTensor t = thinned_tensor(shape, 1);
      const Factors z = random_factors(shape, rank, 2);
      const TargetPtr full = as_dense_target(t), sparse = sparse_tensor(listed(t));
      for (Index mode = 0; mode < t.modes(); ++mode) {
        const Panel expected = contracted(t, mode, z);
        Panel out;
        full->contract(mode, z, out);
        EXPECT_LT(max_difference(out, expected), 1e-12 * (1 + expected.norm())) << "mode " << mode;
        sparse->contract(mode, z, out);
        EXPECT_LT(max_difference(out, expected), 1e-12 * (1 + expected.norm())) << "mode " << mode;
      }
      EXPECT_NEAR(full->squared_norm(), t.norm() * t.norm(), 1e-12);
      EXPECT_NEAR(sparse->squared_norm(), t.norm() * t.norm(), 1e-12);
    }
}

TEST(Tensor, TheFactorOfTheModeItselfIsNotLookedAt) {
  const PlainTensor t = gaussian_tensor({4, 3, 2, 5}, 1);
  const TargetPtr full = as_dense_target(t), sparse = sparse_tensor(listed(t));
  for (Index mode = 0; mode < 4; ++mode) {
    Factors z = random_factors(t.shape, 2, 2);
    const Panel expected = contracted(t, mode, z);
    z[mode] = Panel::Constant(99, 2, std::numeric_limits<double>::quiet_NaN());
    Panel out;
    full->contract(mode, z, out);
    EXPECT_LT(max_difference(out, expected), 1e-12);
    sparse->contract(mode, z, out);
    EXPECT_LT(max_difference(out, expected), 1e-12);
  }
}

TEST(Tensor, WhatIsKeptOfAContractionIsNeverStale) {
  const PlainTensor t = gaussian_tensor({6, 5, 4}, 1);
  const TargetPtr kept = as_dense_target(t);
  Factors z = random_factors(t.shape, 3, 2);
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    const Index mode = Index(random.below(3)), moved = Index(random.below(3));
    Panel out, fresh;
    kept->contract(mode, z, out);
    as_dense_target(t)->contract(mode, z, fresh);
    EXPECT_TRUE(same_bits(out, fresh));
    if (round % 3 == 0)
      z = random_factors(t.shape, 1 + Index(random.below(4)), std::uint64_t(round));
    else
      z[moved](0, 0) += 1;
  }
}

TEST(Tensor, DistancesAreSummedOverTheEntries) {
  const PlainTensor t = gaussian_tensor({4, 5, 3, 2}, 1);
  const Expansion x(random_factors(t.shape, 3, 2), Vector(gaussian(3, 1, 9)));
  const double expected = std::pow(distance(t, dense(x)), 2);
  EXPECT_NEAR(*as_dense_target(t)->squared_distance(x), expected, 1e-11 * expected);
}

TEST(Tensor, FullSquaresSayTheTruthOfThem) {
  for (const auto& shape : kShapes) {
    const PlainTensor t = thinned_tensor(shape, 4);
    for (const TensorPtr& target : {as_dense_target(t), sparse_tensor(listed(t))}) {
      FullSquares f(target);
      f.move_to({random_factors(shape, 3, 5), Vector(gaussian(3, 1, 6))});
      EXPECT_NEAR(f.value(), 0.5 * std::pow(distance(t, dense(f.iterate())), 2), 1e-10 * (1 + f.value()));
      PlainTensor residual = t;
      const PlainTensor x = dense(f.iterate());
      for (std::size_t e = 0; e < residual.values.size(); ++e) residual.values[e] -= x.values[e];
      const Factors z = random_factors(shape, 2, 7);
      for (Index mode = 0; mode < t.modes(); ++mode) {
        Panel out;
        f.contract(mode, z, out);
        EXPECT_LT(max_difference(out, contracted(residual, mode, z)), 1e-10);
      }
    }
  }
}

TEST(Tensor, TheSameBitsForAnyNumberOfThreads) {
  const PlainTensor t = gaussian_tensor({60, 50, 40}, 1);
  const SparseTensor entries = listed(thinned_tensor({60, 50, 40}, 2));
  const Factors z = random_factors(t.shape, 12, 3);
  for (Index mode = 0; mode < 3; ++mode) {
    Panel full, sparse, out;
    as_dense_target(t, 1)->contract(mode, z, full);
    sparse_tensor(entries, 1)->contract(mode, z, sparse);
    for (const int threads : {2, 3, 16}) {
      as_dense_target(t, threads)->contract(mode, z, out);
      EXPECT_TRUE(same_bits(out, full));
      sparse_tensor(entries, threads)->contract(mode, z, out);
      EXPECT_TRUE(same_bits(out, sparse));
    }
  }
}

TEST(Tensor, CompressedIsTheArrayWhereItHasFewDirections) {
  for (const auto& shape : {std::vector<Index>{40, 30, 35}, std::vector<Index>{64, 5, 6, 40}}) {
    const PlainTensor t = dense({random_factors(shape, 3, 1), Vector::Ones(3)});
    const TensorPtr whole = as_dense_target(t);
    Random random(7);
    const TargetPtr small = whole->compressed(6, random);
    ASSERT_NE(small, nullptr);
    EXPECT_EQ(small->squared_norm(), whole->squared_norm());
    EXPECT_LT(small->contraction_work(), whole->contraction_work() / 4);
    const Factors z = random_factors(shape, 4, 9);
    for (Index mode = 0; mode < t.modes(); ++mode) {
      Panel expected, out;
      whole->contract(mode, z, expected);
      small->contract(mode, z, out);
      EXPECT_LT(max_difference(out, expected), 1e-9 * expected.norm());
    }
    for (const int threads : {2, 3, 16}) {
      Random again(7);
      Panel one, many;
      small->contract(0, z, one);
      as_dense_target(t, threads)->compressed(6, again)->contract(0, z, many);
      EXPECT_TRUE(same_bits(one, many));
    }
  }
  Random random(1);
  EXPECT_EQ(as_dense_target(gaussian_tensor({6, 5, 4}, 1))->compressed(4, random), nullptr)
      << "small already";
  EXPECT_EQ(sparse_tensor(listed(gaussian_tensor({30, 30, 30}, 1)))->compressed(4, random), nullptr);
}

TEST(Tensor, TimesAPowerOfTwo) {
  const PlainTensor t = thinned_tensor({5, 4, 3}, 2);
  const Factors z = random_factors(t.shape, 2, 3);
  for (const TensorPtr& target : {as_dense_target(t), sparse_tensor(listed(t))}) {
    Panel out, scaled;
    target->contract(1, z, out);
    target->scaled(0.25)->contract(1, z, scaled);
    EXPECT_TRUE(same_bits(Panel(0.25 * out), scaled));
    EXPECT_EQ(target->scaled(0.25)->squared_norm(), target->squared_norm() / 16);
    EXPECT_EQ(target->largest_magnitude(),
              Eigen::Map<const Vector>(t.values.data(), t.count()).cwiseAbs().maxCoeff());
  }
}

TEST(Tensor, EntriesThatAreNoneAreRefused) {
  SparseTensor t = listed(gaussian_tensor({3, 2, 2}, 1));
  SparseTensor outside = t, twice = t, infinite = t, ragged = t;
  outside.index[1][4] = 2;
  EXPECT_THAT(message_of<InvalidInput>([&] { sparse_tensor(outside); }),
              HasSubstr("entry 5: index 2 of mode 1 lies outside 0..1"));
  for (std::size_t m = 0; m < 3; ++m) twice.index[m][7] = twice.index[m][2];
  EXPECT_THAT(message_of<InvalidInput>([&] { sparse_tensor(twice); }),
              HasSubstr("entries 3 and 8 are the same place"));
  infinite.value[0] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message_of<InvalidInput>([&] { sparse_tensor(infinite); }), HasSubstr("entry 1 is inf"));
  ragged.index[2].pop_back();
  EXPECT_THAT(message_of<InvalidArgument>([&] { sparse_tensor(ragged); }), HasSubstr("11 indices for 12"));
}

}  // namespace
}  // namespace pursuit
