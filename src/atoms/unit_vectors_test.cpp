// Both oracles of the unit vectors against an exhaustive search over all supports.

#include "atoms/unit_vectors.hpp"

#include <rapidcheck/gtest.h>

#include <numeric>

#include "atoms/exhaustive_test_support.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using exhaustive::in_support;

UnitVectors vectors(bool nonnegative, std::optional<std::variant<Index, double>> bound) {
  return {nonnegative, bound ? std::make_shared<Cardinality>(Sparsity{*bound}) : nullptr};
}

struct Shape {
  bool nonnegative;
  Index k;
};

template <class Visit>
void for_each_support(Index n, Index k, const Visit& visit) {
  for (unsigned mask = 1; mask < (1U << unsigned(n)); ++mask)
    if (std::popcount(mask) <= int(k)) visit(mask);
}

/// max <u, g> over unit vectors on each support: the norm of what may be used of g, or its largest entry.
double largest_product(const Vector& g, const Shape& shape) {
  double best = -std::numeric_limits<double>::infinity();
  for_each_support(g.size(), shape.k, [&](unsigned mask) {
    double squared = 0;
    for (Index i = 0; i < g.size(); ++i) {
      if (!in_support(mask, i)) continue;
      best = std::max(best, g[i]);
      if (!shape.nonnegative || g[i] > 0) squared += g[i] * g[i];
    }
    if (squared > 0) best = std::max(best, std::sqrt(squared));
  });
  return best;
}

/// min of the parabolas over t u on each support, every coordinate at its own best.
double smallest_parabolas(const Vector& a, const Vector& b, Sign sign, const Shape& shape) {
  double best = 0;
  for (const double direction : {1.0, -1.0}) {
    if (direction < 0 && (sign == Sign::nonnegative && shape.nonnegative)) continue;
    for_each_support(b.size(), shape.k, [&](unsigned mask) {
      double value = 0;
      for (Index i = 0; i < b.size(); ++i)
        if (in_support(mask, i) && a[i] > 0 && (!shape.nonnegative || direction * b[i] > 0))
          value -= b[i] * b[i] / a[i];
      best = std::min(best, value);
    });
  }
  return best;
}

double parabolas(const Vector& a, const Vector& b, double t, const Vector& u) {
  return t * t * a.dot(u.cwiseAbs2()) - 2 * t * b.dot(u);
}

Shape any_shape(Index n) {
  return {*rc::gen::arbitrary<bool>(), *rc::gen::inRange<Index>(1, n + 1)};
}

/// Small integers, so that ties and zeros are common, now and then spread over many magnitudes.
Vector any_vector(Index n) {
  Vector g(n);
  const bool spread = *rc::gen::arbitrary<bool>();
  for (double& x : g) {
    x = *rc::gen::inRange(-3, 4);
    if (spread) x *= std::pow(10.0, *rc::gen::inRange(-4, 5));
  }
  return g;
}

RC_GTEST_PROP(UnitVectors, MaximizeIsTheBestOverAllSupports, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const Shape shape = any_shape(n);
  const UnitVectors set = vectors(shape.nonnegative, shape.k);
  const Vector g = any_vector(n);
  Vector u(n);
  set.maximize(g, u);
  RC_ASSERT(set.contains(u, 1e-14));
  RC_ASSERT(std::abs(g.dot(u) - largest_product(g, shape)) <= 1e-14 * double(n) * (1 + g.norm()));
}

RC_GTEST_PROP(UnitVectors, FitIsTheBestOverAllSupports, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const Shape shape = any_shape(n);
  const Sign sign = *rc::gen::element(Sign::free, Sign::nonnegative);
  const UnitVectors set = vectors(shape.nonnegative, shape.k);
  Vector a(n), b = any_vector(n), u(n);
  for (double& x : a) x = *rc::gen::inRange(0, 4);
  b = (a.array() > 0).select(b, 0.0);
  const double t = set.fit(a, b, sign, u), best = smallest_parabolas(a, b, sign, shape);
  RC_ASSERT(set.contains(u, 1e-14));
  RC_ASSERT(sign == Sign::free || t >= 0);
  RC_ASSERT(std::abs(parabolas(a, b, t, u) - best) <= 1e-13 * double(n) * (1 + std::abs(best)));

  const double curvature = 0.5;
  const double t1 = set.fit(curvature, b, sign, u);
  const double best1 = smallest_parabolas(Vector::Constant(n, curvature), b, sign, shape);
  RC_ASSERT(set.contains(u, 1e-14));
  RC_ASSERT(std::abs(parabolas(Vector::Constant(n, curvature), b, t1, u) - best1) <=
            1e-13 * double(n) * (1 + std::abs(best1)));
}

TEST(UnitVectors, BreakTiesTowardsTheLowestIndex) {
  const Vector level = Vector::Constant(5, -2.0);
  Vector u(5);
  vectors(false, Index(2)).maximize(level, u);
  EXPECT_LT(max_difference(u, (Vector(5) << -1, -1, 0, 0, 0).finished() / std::sqrt(2.0)), 1e-15);
  vectors(true, std::nullopt).maximize(level, u);
  EXPECT_EQ(u, Vector::Unit(5, 0));
  vectors(true, Index(3)).maximize((Vector(5) << -5, -1, -3, -1, -2).finished(), u);
  EXPECT_EQ(u, Vector::Unit(5, 1));
  vectors(false, std::nullopt).maximize(Vector::Zero(5), u);
  EXPECT_EQ(u, Vector::Unit(5, 0));
}

TEST(UnitVectors, KeepTheLargestGainsOfLongVectors) {
  for (const Index n : {100, 5000, 70000})
    for (const bool nonnegative : {false, true})
      for (const Index k : {Index(1), n / 10, n - 1, n}) {
        const Vector b = gaussian(n, 1, std::uint64_t(n)),
                     a = uniform(n, 1, std::uint64_t(n) + 1).array() + 0.1;
        const UnitVectors set = vectors(nonnegative, k);
        // The sum of the k largest gains of either sign, by sorting.
        const auto gain = [&](const Vector& curvature, double direction) {
          std::vector<double> gains;
          for (Index i = 0; i < n; ++i)
            if (!nonnegative || direction * b[i] > 0) gains.push_back(b[i] * b[i] / curvature[i]);
          std::sort(gains.begin(), gains.end(), std::greater<>());
          gains.resize(std::min(gains.size(), std::size_t(k)));
          return std::accumulate(gains.begin(), gains.end(), 0.0);
        };
        Vector u(n);
        set.maximize(b, u);
        EXPECT_TRUE(set.contains(u, 1e-13)) << set.spec();
        EXPECT_NEAR(b.dot(u), std::sqrt(gain(Vector::Ones(n), 1)), 1e-11 * b.norm()) << set.spec();
        for (const Sign sign : {Sign::free, Sign::nonnegative}) {
          double best = gain(a, 1);
          if (sign == Sign::free) best = std::max(best, gain(a, -1));
          const double t = set.fit(a, b, sign, u);
          EXPECT_TRUE(set.contains(u, 1e-13)) << set.spec();
          EXPECT_NEAR(-parabolas(a, b, t, u), best, 1e-11 * best) << set.spec();
        }
      }
}

TEST(UnitVectors, SurviveNumbersWhoseSquaresOverflowOrVanish) {
  const Vector shape = (Vector(4) << 3, -4, 1, 2).finished();
  for (const double scale : {1e-300, 1e-160, 1e160, 1e300})
    for (const auto& [nonnegative, k] : {Shape{false, 2}, Shape{true, 2}, Shape{false, 4}}) {
      const UnitVectors set = vectors(nonnegative, k);
      Vector expected(4), u(4);
      set.maximize(shape, expected);
      set.maximize(scale * shape, u);
      EXPECT_LT(max_difference(u, expected), 1e-14) << set.spec() << " at " << scale;

      const Vector a = (Vector(4) << 1, 2, 0.5, 1).finished();
      const double t = set.fit(a, shape, Sign::free, expected);
      EXPECT_NEAR(set.fit(a, scale * shape, Sign::free, u) / scale, t, 1e-12 * std::abs(t))
          << set.spec() << " at " << scale;
      EXPECT_LT(max_difference(u, expected), 1e-14) << set.spec() << " at " << scale;
      EXPECT_NEAR(set.fit(2.0, scale * shape, Sign::free, u) / scale, set.fit(2.0, shape, Sign::free, u),
                  1e-12);
    }
}

TEST(UnitVectors, FitWhereOnlyGainsOverflow) {
  // x = b / a is moderate, b x is not.
  const Vector a = Vector::Constant(4, 1e300), b = (Vector(4) << 3e304, -4e304, 1e304, 2e304).finished();
  for (const auto& [nonnegative, k] : {Shape{false, 2}, Shape{true, 2}}) {
    Vector u(4);
    const double t = vectors(nonnegative, k).fit(a, b, Sign::nonnegative, u);
    const Vector expected =
        nonnegative ? (Vector(4) << 3, 0, 0, 2).finished() : (Vector(4) << 3, -4, 0, 0).finished();
    EXPECT_LT(max_difference(t * u, 1e4 * expected), 1e-9);
  }
}

TEST(UnitVectors, KnowTheirMembers) {
  const Vector pair = (Vector(4) << 0.6, 0.8, 0, 0).finished();
  EXPECT_TRUE(vectors(false, Index(2)).contains(pair, 1e-9));
  EXPECT_FALSE(vectors(false, Index(1)).contains(pair, 1e-9));
  EXPECT_TRUE(vectors(true, std::nullopt).contains(pair, 1e-9));
  EXPECT_FALSE(vectors(true, std::nullopt).contains(-pair, 1e-9));
  EXPECT_FALSE(vectors(false, std::nullopt).contains(1.001 * pair, 1e-9));
  EXPECT_TRUE(vectors(false, std::nullopt).contains(1.001 * pair, 1e-2));
  EXPECT_FALSE(vectors(false, std::nullopt)
                   .contains(Vector::Constant(4, std::numeric_limits<double>::quiet_NaN()), 1e-9));
  Vector nearly = pair;
  nearly[2] = -1e-300;
  EXPECT_FALSE(vectors(true, std::nullopt).contains(nearly, 1e-2)) << "a sign is never forgiven";
  EXPECT_FALSE(vectors(false, Index(2)).contains(nearly, 1e-2)) << "a non-zero is never forgiven";
}

TEST(UnitVectors, FractionsAllowAtMostThatShareAndAtLeastOneEntry) {
  const auto support = [](double fraction, Index n) {
    return vectors(false, fraction).traits().simple->max_nonzeros(n);
  };
  EXPECT_EQ(support(0.3, 10), 3);
  EXPECT_EQ(support(0.29, 100), 29) << "0.29 * 100 is a little less than 29 in floating point";
  EXPECT_EQ(support(0.3, 5), 1) << "2 of 5 would be more than 0.3 of them";
  EXPECT_EQ(support(0.01, 5), 1);
  EXPECT_EQ(support(1.0, 7), 7);
  EXPECT_EQ(vectors(false, Index(9)).traits().simple->max_nonzeros(4), 4);
  EXPECT_EQ(vectors(true, std::nullopt).traits().simple->max_nonzeros(4), 4);
}

}  // namespace
}  // namespace pursuit
