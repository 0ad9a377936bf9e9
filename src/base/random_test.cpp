#include "pursuit/base/random.hpp"

#include <array>
#include <vector>

#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(Random, IsXoshiroSeededBySplitmix) {
  // From an independent implementation of the two published generators.
  Random zero(0);
  EXPECT_EQ(zero.bits(), 0x99ec5f36cb75f2b4U);
  EXPECT_EQ(zero.bits(), 0xbf6e1f784956452aU);
  EXPECT_EQ(zero.bits(), 0x1a5f849d4933e6e0U);
  Random forty_two(42);
  EXPECT_EQ(forty_two.bits(), 0x15780b2e0c2ec716U);
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
