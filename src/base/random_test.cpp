#include "pursuit/base/random.hpp"

#include <array>
#include <set>
#include <vector>

#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(Random, IsPhilox) {
  // The known answers that its authors publish for Philox4x32-10.
  const auto expect = [](RandomBlock block, std::uint64_t first, std::uint64_t second) {
    EXPECT_EQ(block.first, first);
    EXPECT_EQ(block.second, second);
  };
  const std::uint64_t ones = ~std::uint64_t(0);
  expect(random_block(0, 0, 0), 0xe169c58d6627e8d5U, 0x9b00dbd8bc57ac4cU);
  expect(random_block(ones, ones, ones), 0x41c83b0e408f276dU, 0x6d5451fda20bc7c6U);
  expect(random_block(0x299f31d0a4093822U, 0x85a308d3243f6a88U, 0x0370734413198a2eU), 0x94fdccebd16cfe09U,
         0x24126ea15001e420U);
}

TEST(Random, BitsAreTheSameOnEveryPlatform) {
  Random zero(0);
  EXPECT_EQ(zero.bits(), 0xe169c58d6627e8d5U);
  EXPECT_EQ(zero.bits(), 0x9b00dbd8bc57ac4cU);
  EXPECT_EQ(zero.bits(), random_block(0, 1, 0).first);
  EXPECT_EQ(Random(42).stream(7).bits(), 0x013cc74cfabab165U);
  EXPECT_NEAR(Random(42).gaussian_matrix(3, 2)(2, 1), 0.72809906553861825, 1e-12);
}

TEST(Random, PartsOfAMatrixAreThoseOfTheWhole) {
  const Matrix before = Random(5).gaussian_matrix(11, 3);
  for (Index first = 0; first <= 11; ++first)
    for (Index count = 0; first + count <= 11; ++count) {
      Random whole(5), owner(5);
      ASSERT_TRUE(same_bits(owner.gaussian_rows(first, count, 3), before.middleRows(first, count)));
      whole.gaussian_matrix(11, 3);
      ASSERT_TRUE(same_bits(owner.gaussian_rows(first, count, 2),
                            Matrix(whole.gaussian_matrix(11, 2).middleRows(first, count))))
          << "and so is the next one";
    }
  EXPECT_TRUE(same_bits(Random(5).gaussian_matrix(4, 3), before.topRows(4))) << "sizes do not matter";
  EXPECT_TRUE(same_bits(Random(5).gaussian_matrix(11, 2), before.leftCols(2)));
}

TEST(Random, NumbersOfOtherPlacesStreamsMatricesAndSeedsAreOthers) {
  Random random(9);
  const Matrix one = random.gaussian_matrix(50, 4), next = random.gaussian_matrix(50, 4);
  std::set<double> values;
  for (const Matrix* m : {&one, &next}) values.insert(m->data(), m->data() + m->size());
  std::size_t drawn = 400;
  for (Index place = 0; place < 100; ++place, drawn += 2) {
    values.insert(random.stream(place).gaussian());
    values.insert(random.stream(0).stream(place).gaussian());
  }
  for (int k = 0; k < 100; ++k, ++drawn) values.insert(random.gaussian());
  for (std::uint64_t seed = 10; seed < 20; ++seed, ++drawn) values.insert(Random(seed).gaussian());
  EXPECT_EQ(values.size(), drawn);
}

TEST(Random, NeighboursAreIndependent) {
  constexpr Index n = 40000;
  const double bound = 5 / std::sqrt(double(n));
  const auto correlation = [](const Vector& a, const Vector& b) { return a.dot(b) / double(a.size()); };
  const Matrix x = gaussian(n, 2, 3);
  EXPECT_NEAR(correlation(x.col(0), x.col(1)), 0, bound);
  EXPECT_NEAR(correlation(x.col(0), gaussian(n, 1, 4)), 0, bound) << "the next seed";
  Vector even(n / 2), odd(n / 2), of_streams(n), next_of_streams(n);
  for (Index i = 0; i < n / 2; ++i) even[i] = x(2 * i, 0), odd[i] = x(2 * i + 1, 0);
  EXPECT_NEAR(correlation(even, odd), 0, 1.5 * bound) << "the two of a block";
  EXPECT_NEAR(correlation(even.cwiseAbs2().array() - 1, odd.cwiseAbs2().array() - 1), 0, 3 * bound);
  for (Index i = 0; i < n; ++i) {
    Random stream = Random(1).stream(i);
    of_streams[i] = stream.gaussian();
    next_of_streams[i] = stream.gaussian();
  }
  EXPECT_NEAR(of_streams.mean(), 0, bound);
  EXPECT_NEAR(of_streams.squaredNorm() / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(correlation(of_streams, next_of_streams), 0, bound);
  EXPECT_NEAR(correlation(of_streams.head(n - 1), of_streams.tail(n - 1)), 0, bound) << "neighbouring places";
}

TEST(Random, RepeatsItselfAndDependsOnTheSeed) {
  EXPECT_TRUE(same_bits(gaussian(20, 3, 7), gaussian(20, 3, 7)));
  EXPECT_GT(max_difference(gaussian(20, 3, 7), gaussian(20, 3, 8)), 0.1);
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  Random random(1);
  std::array<int, 10> counts{};
  for (int i = 0; i < 20000; ++i) {
    const double x = random.uniform();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    ++counts[std::size_t(10 * x)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 2000, 5 * std::sqrt(2000 * 0.9));  // five deviations
}

TEST(Random, GaussianHasTheMomentsOfTheNormalLaw) {
  const Matrix x = gaussian(40000, 1, 3);
  const double n = 40000;
  EXPECT_NEAR(x.mean(), 0, 5 / std::sqrt(n));
  EXPECT_NEAR(x.squaredNorm() / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(x.array().pow(4).mean(), 3, 5 * std::sqrt(96 / n));
  EXPECT_TRUE(x.allFinite());
}

TEST(Random, BelowReachesEveryNumberAndNoOther) {
  Random random(5);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 7000; ++i) {
    const Index k = random.below(7);
    ASSERT_GE(k, 0);
    ASSERT_LT(k, 7);
    ++counts[std::size_t(k)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000.0));
  EXPECT_EQ(random.below(1), 0);
}

}  // namespace
}  // namespace pursuit
