// Passes over vectors of every length against one entry after the other.

#include "atoms/passes.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

constexpr double kScale = 0.5;

/// Sums in another order differ by rounding.
void expect_sum(double sum, double expected, Index n) {
  EXPECT_NEAR(sum, expected, 1e-14 * double(n) * (1 + std::abs(expected))) << "n = " << n;
}

class Passes : public testing::TestWithParam<Index> {
 protected:
  const Index n_ = GetParam();
  const Vector x_ = gaussian(n_, 1, 1), a_ = thinned(uniform(n_, 1, 3), 0.8, 4);
  const Vector quotients_ = (a_.array() > 0).select(x_.array() / a_.array(), 0.0);
};
INSTANTIATE_TEST_SUITE_P(Lengths, Passes,
                         testing::Values(1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 1001));

TEST_P(Passes, SumLikeOneEntryAfterTheOther) {
  for (const double floor : {0.0, passes::kUnbounded}) {
    const Vector y = x_.cwiseMax(floor);
    const passes::Sums sums = passes::sums_of(x_, floor);
    EXPECT_TRUE(sums.finite);
    EXPECT_EQ(sums.largest, y.cwiseAbs().maxCoeff());
    expect_sum(sums.squares, y.squaredNorm(), n_);
  }
  Vector u(n_);
  const passes::QuotientSums sums = passes::divide_into(x_, a_, u);
  EXPECT_EQ(u, quotients_);
  EXPECT_TRUE(sums.finite);
  EXPECT_EQ(sums.largest, quotients_.cwiseAbs().maxCoeff());
  const Vector up = quotients_.cwiseMax(0.0), down = quotients_.cwiseMin(0.0);
  expect_sum(sums.up_squares, up.squaredNorm(), n_);
  expect_sum(sums.down_squares, down.squaredNorm(), n_);
  expect_sum(sums.up_gains, up.dot(x_), n_);
  expect_sum(sums.down_gains, down.dot(x_), n_);
}

TEST_P(Passes, ScaleLikeOneEntryAfterTheOther) {
  for (const double floor : {0.0, passes::kUnbounded})
    for (const double sign : {1.0, -1.0}) {
      Vector u(n_);
      passes::scale_into(x_, sign, floor, kScale, u);
      const Vector expected = kScale * (sign * x_).cwiseMax(floor);
      EXPECT_EQ(u, expected);
      u = x_;
      passes::scale_into(u, sign, floor, kScale, u);
      EXPECT_EQ(u, expected) << "in place";
    }
}

/// What a source says about a range of its keys, against the keys themselves.
template <class Source>
void expect_gathered(Source& source, const Vector& keys, const Vector& y, double lo, double hi) {
  const Index n = keys.size();
  std::vector<double> found(std::size_t(n + 1));
  std::vector<int> places(std::size_t(n + 1));
  const Gathered counts = source.gather(lo, hi, found.data(), places.data());
  Index above = 0, inside = 0;
  double squares = 0;
  for (Index i = 0; i < n; ++i) {
    if (keys[i] > hi) squares += y[i] * y[i];
    above += keys[i] > hi;
    if (!(keys[i] > lo && keys[i] <= hi)) continue;
    ASSERT_LT(inside, counts.inside);
    EXPECT_EQ(found[std::size_t(inside)], keys[i]);
    EXPECT_EQ(places[std::size_t(inside)], i);
    ++inside;
  }
  EXPECT_EQ(counts.inside, inside);
  EXPECT_EQ(counts.above, above);
  EXPECT_TRUE(source.finite);
  expect_sum(source.squares_above, squares, n);
}

TEST_P(Passes, GatherSizesAndKeepTheLargest) {
  for (const double floor : {0.0, passes::kUnbounded}) {
    const Vector y = x_.cwiseMax(floor), keys = y.cwiseAbs();
    passes::SizeKeys source(x_, floor == 0);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const auto& [lo, hi] : {std::pair{-kInfinity, kInfinity}, {0.3, 1.2}, {0.5, 0.5}})
      expect_gathered(source, keys, y, lo, hi);
    for (const Index k : {Index(1), (n_ + 1) / 2, n_}) {
      const TopK top = find_top_k(keys, k);
      Vector u(n_);
      passes::keep_sizes(x_, top, floor == 0, kScale, u);
      for (Index i = 0; i < n_; ++i) EXPECT_EQ(u[i], top.takes(keys[i], i) ? kScale * y[i] : 0.0);
    }
  }
}

TEST_P(Passes, GatherGainsAndKeepTheLargest) {
  for (const double floor : {0.0, passes::kUnbounded})
    for (const double sign : {1.0, -1.0}) {
      const Vector y = (sign * quotients_).cwiseMax(floor), keys = y.cwiseProduct(sign * x_);
      Vector u(n_);
      passes::GainKeys source(x_, a_, sign, floor, u);
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      for (const auto& [lo, hi] : {std::pair{-kInfinity, kInfinity}, {0.3, 1.2}})
        expect_gathered(source, keys, y, lo, hi);
      EXPECT_EQ(u, quotients_);
      EXPECT_EQ(source.largest, quotients_.cwiseAbs().maxCoeff());
      const TopK top = find_top_k(keys, (n_ + 1) / 2);
      passes::keep_gains(x_, top, sign, floor, kScale, u);
      for (Index i = 0; i < n_; ++i) EXPECT_EQ(u[i], top.takes(keys[i], i) ? kScale * y[i] : 0.0);
    }
}

TEST_P(Passes, FindTheEntryThatIsNotFinite) {
  EXPECT_TRUE(passes::all_finite(1e300 * x_));
  Vector u(n_);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()})
    for (const Index place : {Index(0), n_ / 2, n_ - 1}) {
      Vector x = x_;
      x[place] = bad;
      const Vector ones = Vector::Ones(n_);
      EXPECT_FALSE(passes::all_finite(x)) << bad << " at " << place;
      EXPECT_FALSE(passes::sums_of(x, 0).finite);
      EXPECT_FALSE(passes::divide_into(x, ones, u).finite);
      EXPECT_FALSE(passes::divide_into(ones, x, u).finite);
      passes::SizeKeys sizes(x, true);
      passes::GainKeys gains(x, ones, 1, 0, u);
      const Index k = (n_ + 1) / 2;
      EXPECT_FALSE(find_top_k(sizes, k).found && sizes.finite) << bad << " at " << place;
      EXPECT_FALSE(find_top_k(gains, k).found && gains.finite) << bad << " at " << place;
    }
}

TEST(SourceTopK, IsThatOfTheVectorOfItsKeys) {
  for (const Index n : {5, 64, 65, 1000, 5000, 70000}) {
    const Vector normal = gaussian(n, 1, std::uint64_t(n)), rounded = (2 * normal.array()).round();
    Vector crowded = normal;
    crowded.head(n / 2).setConstant(0.5);
    for (const Vector& x : {normal, rounded, crowded})
      for (const Index k : {Index(1), n / 100 + 1, n / 10 + 1, n / 2, n - 1}) {
        const Vector keys = x.cwiseAbs();
        const TopK expected = find_top_k(keys, k);
        passes::SizeKeys source(x, false);
        const SourceTopK found = find_top_k(source, k);
        ASSERT_TRUE(found.found);
        Index kept = 0;
        found.for_each_kept([&](double key, Index i) {
          EXPECT_EQ(key, keys[i]);
          ++kept;
        });
        double squares = source.squares_above;
        Index ties = 0;
        found.for_each_kept([&](double key, Index) {
          squares += key * key;
          ties += key == found.top.threshold;
        });
        EXPECT_EQ(found.ties, ties);
        double all = 0;
        for (Index i = 0; i < n; ++i) {
          ASSERT_EQ(found.top.takes(keys[i], i), expected.takes(keys[i], i)) << n << ' ' << k << ' ' << i;
          if (expected.takes(keys[i], i)) all += keys[i] * keys[i];
        }
        EXPECT_NEAR(squares, all, 1e-12 * all);
        EXPECT_LE(kept, k);
      }
  }
}

}  // namespace
}  // namespace pursuit
