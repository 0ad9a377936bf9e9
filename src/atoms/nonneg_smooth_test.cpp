// Smooth vectors without a negative entry against all vectors of a fine grid, and against a bound that holds
// where entries are positive on the whole.

#include <gtest/gtest.h>

#include <numbers>

#include "atoms/path_roughness.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/random.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

Atoms peaks(double lambda) {
  return nonneg() + smooth(lambda);
}

/// All directions of three entries, none negative, that are smooth enough.
std::vector<Vector> members_of_three(double lambda) {
  constexpr int kSteps = 120;
  std::vector<Vector> members;
  for (int i = 0; i <= kSteps; ++i)
    for (int j = 0; j <= kSteps; ++j) {
      const double p = std::numbers::pi / 2 * i / kSteps, q = std::numbers::pi / 2 * j / kSteps;
      Vector u(3);
      u << std::cos(p) * std::cos(q), std::sin(p) * std::cos(q), std::sin(q);
      if (PathRoughness{lambda}.excess(u) <= 0) members.push_back(u.cwiseMax(0.0));
    }
  return members;
}

TEST(NonnegSmooth, IsBeatenByNoVectorOfAGridWhereEntriesArePositiveOnTheWhole) {
  for (const double lambda : {0.05, 0.3, 0.8, 1.5, 2.5}) {
    const Atoms set = peaks(lambda);
    const std::vector<Vector> members = members_of_three(lambda);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Vector g = gaussian(3, 1, seed);
      const bool positive = g.sum() > 0;
      Vector u(3);
      set->maximize(g, u);
      ASSERT_TRUE(set->contains(u));
      const double share = positive ? 1.0 : 0.9;  // elsewhere a local search, which is near to the best too
      for (const Vector& member : members)
        if (positive || g.dot(member) > 0) {
          EXPECT_LE(share * g.dot(member), g.dot(u) + 1e-6)
              << lambda << ", seed " << seed << ": " << member.transpose();
        }
    }
  }
}

/// What any member gains at most, at this price of roughness: 2 b^T x - x^T (I + beta (L - lambda I)) x over
/// x >= 0, by coordinate descent.
double gain_at_price(const Vector& b, double beta, double lambda) {
  const Index n = b.size();
  Vector x = b.cwiseMax(0.0);
  const auto beside = [&](Index i) { return (i > 0 ? x[i - 1] : 0.0) + (i + 1 < n ? x[i + 1] : 0.0); };
  const auto diagonal = [&](Index i) { return 1 + beta * (double(i > 0) + double(i + 1 < n) - lambda); };
  for (int sweep = 0; sweep < 20000; ++sweep) {
    double moved = 0;
    for (Index i = 0; i < n; ++i) {
      const double next = std::max(0.0, (b[i] + beta * beside(i)) / diagonal(i));
      moved = std::max(moved, std::abs(next - x[i]));
      x[i] = next;
    }
    if (moved < 1e-14) break;
  }
  double gain = 0;
  for (Index i = 0; i < n; ++i) gain += x[i] * (2 * b[i] + beta * beside(i) - diagonal(i) * x[i]);
  return gain;
}

TEST(NonnegSmooth, ReachesTheBoundOfItsDualWhereEntriesArePositiveOnTheWhole) {
  for (const Index n : {2, 7, 12})
    for (const double lambda : {0.03, 0.2, 1.0})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Vector b = gaussian(n, 1, seed);
        b.array() += 0.3 - std::min(b.mean(), 0.0);
        Vector u(n);
        const double t = peaks(lambda)->fit(1.0, b, Sign::nonnegative, u);
        ASSERT_TRUE(peaks(lambda)->contains(u));
        double lo = 0, hi = 1 / lambda;  // the bound is convex in the price
        for (int step = 0; step < 60; ++step) {
          const double left = lo + (hi - lo) / 3, right = hi - (hi - lo) / 3;
          const bool lower = gain_at_price(b, left, lambda) < gain_at_price(b, right, lambda);
          (lower ? hi : lo) = lower ? right : left;
        }
        EXPECT_NEAR(2 * t * b.dot(u) - t * t, gain_at_price(b, lo, lambda), 1e-6 * b.squaredNorm());
      }
}

TEST(NonnegSmooth, OfNearlyNoRoughnessIsConstant) {
  const Index n = 9;
  Vector u(n);
  peaks(1e-12)->maximize(uniform(n, 1, 1), u);
  EXPECT_LT(max_difference(u, Vector::Constant(n, 1.0 / 3)), 1e-5);
  peaks(1e-300)->maximize(gaussian(n, 1, 1), u);
  EXPECT_TRUE(peaks(1e-300)->contains(u, 1e-6));
}

TEST(NonnegSmooth, AllowsEveryNonnegativeVectorFromTwoOn) {
  const Vector g = gaussian(11, 1, 3);
  Vector u(11), clipped(11);
  peaks(4)->maximize(g, u);
  nonneg()->maximize(g, clipped);
  EXPECT_LT(max_difference(u, clipped), 1e-12);
}

}  // namespace
}  // namespace pursuit
