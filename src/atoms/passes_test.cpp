// Passes over vectors of every length against one entry after the other.

#include "atoms/passes.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

constexpr double kScale = 0.5, kBound = 0.4;

/// Sums in another order differ by rounding.
void expect_sum(double sum, double expected, Index n) {
  EXPECT_NEAR(sum, expected, 1e-14 * double(n) * (1 + std::abs(expected))) << "n = " << n;
}

class Passes : public testing::TestWithParam<Index> {
 protected:
  const Index n_ = GetParam();
  const Vector x_ = gaussian(n_, 1, 1), keys_ = gaussian(n_, 1, 2), a_ = thinned(uniform(n_, 1, 3), 0.8, 4);
};
INSTANTIATE_TEST_SUITE_P(Lengths, Passes,
                         testing::Values(1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 1001));

TEST_P(Passes, ReduceLikeOneEntryAfterTheOther) {
  for (const double floor : {0.0, passes::kUnbounded}) {
    const Vector y = x_.cwiseMax(floor);
    EXPECT_EQ(passes::largest(x_, floor), y.cwiseAbs().maxCoeff());
    double squares = 0, kept = 0, kept_keys = 0, up = 0, down = 0;
    for (Index i = 0; i < n_; ++i) {
      squares += kScale * y[i] * kScale * y[i];
      if (keys_[i] >= kBound) kept += kScale * y[i] * kScale * y[i];
      if (keys_[i] >= kBound) kept_keys += keys_[i];
      (x_[i] > 0 ? up : down) += a_[i] * kScale * x_[i] * kScale * x_[i];
    }
    expect_sum(passes::sum_squares(x_, floor, kScale), squares, n_);
    expect_sum(passes::kept_squares(x_, keys_, kBound, floor, kScale), kept, n_);
    expect_sum(passes::kept_sum(keys_, kBound), kept_keys, n_);
    const passes::Sides sides = passes::energies_of_sides(a_, x_, kScale);
    expect_sum(sides.up, up, n_);
    expect_sum(sides.down, down, n_);
  }
}

TEST_P(Passes, WriteLikeOneEntryAfterTheOther) {
  for (const double floor : {0.0, passes::kUnbounded}) {
    const Vector y = x_.cwiseMax(floor), kept = (keys_.array() >= kBound).select(kScale * y, 0.0);
    Vector u(n_);
    EXPECT_EQ(passes::sizes_into(x_, floor, u), y.cwiseAbs().maxCoeff());
    EXPECT_EQ(u, y.cwiseAbs());
    passes::scale_into(x_, floor, kScale, u);
    EXPECT_EQ(u, kScale * y);
    passes::keep_into(x_, keys_, kBound, floor, kScale, u);
    EXPECT_EQ(u, kept);
    u = x_;
    passes::keep_into(u, keys_, kBound, floor, kScale, u);
    EXPECT_EQ(u, kept) << "in place of the vector";
    u = keys_;
    passes::keep_into(x_, u, kBound, floor, kScale, u);
    EXPECT_EQ(u, kept) << "in place of the keys";
    passes::energies_into(a_, x_, 1, floor, kScale, u);
    EXPECT_LT(max_difference(u, a_.cwiseProduct((kScale * y).cwiseAbs2())), 1e-15);
    const double largest = passes::divide_into(x_, a_, u);
    const Vector quotients = (a_.array() > 0).select(x_.array() / a_.array(), 0.0);
    EXPECT_EQ(u, quotients);
    EXPECT_EQ(largest, quotients.cwiseAbs().maxCoeff());
  }
}

TEST_P(Passes, FindTheEntryThatIsNotFinite) {
  EXPECT_TRUE(passes::all_finite(1e300 * x_));
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()})
    for (const Index place : {Index(0), n_ / 2, n_ - 1}) {
      Vector x = x_;
      x[place] = bad;
      EXPECT_FALSE(passes::all_finite(x)) << bad << " at " << place;
    }
}

}  // namespace
}  // namespace pursuit
