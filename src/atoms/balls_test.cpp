// Balls of p-norms against Hoelder's inequality, the simplex against its vertices.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

constexpr double kMaximumNorm = std::numeric_limits<double>::infinity();

double norm_of(const Vector& x, double p) {
  const double largest = x.cwiseAbs().maxCoeff();
  if (std::isinf(p) || largest == 0) return largest;
  double sum = 0;
  for (const double value : x) sum += std::pow(std::abs(value) / largest, p);
  return largest * std::pow(sum, 1 / p);
}

/// As the scale is free, multiples of members are all vectors, or all non-negative ones.
double free_gain(const Vector& a, const Vector& b, bool nonnegative) {
  double gain = 0;
  for (Index i = 0; i < b.size(); ++i)
    if (a[i] > 0 && (!nonnegative || b[i] > 0)) gain += b[i] * b[i] / a[i];
  return gain;
}

exhaustive::Reference power_ball(double p, bool nonnegative) {
  const double q = std::isinf(p) ? 1 : p == 1 ? kMaximumNorm : p / (p - 1);
  return {[=](const Vector& g) { return norm_of(nonnegative ? Vector(g.cwiseMax(0.0)) : g, q); },
          [=](const Vector& a, const Vector& b) { return free_gain(a, b, nonnegative); },
          [=](const Vector& u) { return norm_of(u, p) <= 1 + 1e-12 && (!nonnegative || u.minCoeff() >= 0); }};
}

RC_GTEST_PROP(PowerBall, MeetsHoeldersInequalityWithEquality, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const double p = *rc::gen::element(1.0, 1.01, 1.5, 2.0, 3.0, 17.0, 300.0, kMaximumNorm);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + lp(p) : lp(p);
  exhaustive::check_oracles(*set, n, power_ball(p, nonnegative), {.tolerance = 1e-11});
}

TEST(PowerBall, IsTheZeroVectorWhereEveryNonNegativeDirectionLoses) {
  const Atoms set = nonneg() + lp(3);
  Vector u = Vector::Ones(2);
  set->maximize((Vector(2) << -1, -2).finished(), u);
  EXPECT_EQ(u, Vector::Zero(2));
  set->maximize((Vector(2) << -1, 0).finished(), u);
  EXPECT_EQ(u, Vector::Unit(2, 1)) << "not without need";
}

TEST(PowerBall, RefusesWhatIsNoNorm) {
  for (const double bad : {0.0, 0.99, -2.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(message_of<InvalidArgument>([=] { lp(bad); }),
                testing::HasSubstr("a norm needs p of at least 1, or inf"));
}

RC_GTEST_PROP(Simplex, IsTheBestOfItsVertices, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const exhaustive::Reference reference{
      [](const Vector& g) { return g.maxCoeff(); },
      [](const Vector& a, const Vector& b) { return free_gain(a, b, true); },
      [](const Vector& u) { return u.minCoeff() >= 0 && std::abs(u.sum() - 1) < 1e-12; }};
  exhaustive::check_oracles(*simplex(), n, reference);
}

TEST(Simplex, FitFindsTheBetterSignOfNumbersWhoseSquaresVanishOrOverflow) {
  for (const double scale : {1e-170, 1.0, 1e170}) {
    const Vector b = scale * (Vector(3) << 1, -3, -1).finished();
    Vector u(3);
    EXPECT_NEAR(simplex()->fit(1.0, b, Sign::free, u) / scale, -4, 1e-12) << scale;
    EXPECT_LT(max_difference(u, (Vector(3) << 0, 0.75, 0.25).finished()), 1e-15) << scale;
    EXPECT_NEAR(simplex()->fit(1.0, b, Sign::nonnegative, u) / scale, 1, 1e-12) << scale;
  }
}

TEST(Simplex, TakesTheFirstOfEqualVertices) {
  Vector u(3);
  simplex()->maximize((Vector(3) << 1, 2, 2).finished(), u);
  EXPECT_EQ(u, Vector::Unit(3, 1));
}

}  // namespace
}  // namespace pursuit
