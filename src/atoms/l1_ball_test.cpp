// Unit vectors of bounded 1-norm against their dual: for every Delta >= 0,
//   max <u, g>  <=  ||soft(g, Delta)||_2 + c Delta,
// and the smallest of these bounds, which is convex in Delta, is reached.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

double dual_product(const Vector& input, double c, bool nonnegative) {
  const Vector g = nonnegative ? Vector(input.cwiseMax(0.0)) : Vector(input.cwiseAbs());
  if (g.maxCoeff() == 0) return input.maxCoeff();
  const auto bound = [&](double delta) { return (g.array() - delta).max(0.0).matrix().norm() + c * delta; };
  double lo = 0, hi = g.maxCoeff(), best = std::min(bound(lo), bound(hi));
  for (int step = 0; step < 300; ++step) {
    const double left = lo + (hi - lo) / 3, right = hi - (hi - lo) / 3;
    best = std::min({best, bound(left), bound(right)});
    if (bound(left) <= bound(right))
      hi = right;
    else
      lo = left;
  }
  return best;
}

/// For equal curvatures the best gain is that of the best product.
exhaustive::Reference reference(double c, bool nonnegative) {
  return {[=](const Vector& g) { return dual_product(g, c, nonnegative); },
          [=](const Vector& a, const Vector& b) {
            const double product = std::max(dual_product(b, c, nonnegative), 0.0);
            return product * product / a[0];
          },
          [=](const Vector& u) {
            return std::abs(u.norm() - 1) < 1e-12 && u.lpNorm<1>() <= c + 1e-10 &&
                   (!nonnegative || u.minCoeff() >= 0);
          }};
}

RC_GTEST_PROP(L1Ball, ReachesTheBoundOfItsDual, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const double c = *rc::gen::element(1.0, 1.1, std::sqrt(2.0), 1.5, std::sqrt(3.0), 2.0, 2.5, 3.0);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + l1ball(c) : l1ball(c);
  exhaustive::check_oracles(*set, n, reference(c, nonnegative), {.tolerance = 1e-9, .unequal_fit = false});
}

RC_GTEST_PROP(L1Ball, ReachesTheBoundOnTiesThatAreNotQuiteTies, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const double c = *rc::gen::element(1.0, 1.1, std::sqrt(2.0), 2.0);
  Vector g = Vector::Ones(n);
  for (double& x : g) x += double(*rc::gen::inRange(-2, 3)) * *rc::gen::element(1e-16, 1e-13, 1e-11, 1e-8);
  exhaustive::check_maximize(*l1ball(c), g, reference(c, false), {.tolerance = 1e-9});
}

RC_GTEST_PROP(L1Ball, FitNeverIncreasesTheObjectiveOfItsStart, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const Atoms set = l1ball(*rc::gen::element(1.0, 1.5, 2.0));
  Vector a = exhaustive::any_curvatures(n);
  a[n - 1] = 2;
  const Vector b = (a.array() > 0).select(exhaustive::any_vector(n), 0.0);
  Vector u(n), start(n);
  const double t = set->fit(a, b, Sign::free, u), steepest = a.maxCoeff();
  set->fit(steepest, b, Sign::free, start);
  const double curvature = a.dot(start.cwiseAbs2()), slope = b.dot(start);
  const double reached = curvature > 0 ? -slope * slope / curvature : 0.0;
  RC_ASSERT(set->contains(u, 1e-9));
  RC_ASSERT(exhaustive::parabolas(a, b, t, u) <= reached + 1e-12 * (1 + std::abs(reached)));
}

TEST(L1Ball, RefusesBoundsThatNoUnitVectorKeeps) {
  for (const double bad :
       {0.0, 0.999, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(message_of<InvalidArgument>([=] { l1ball(bad); }), testing::HasSubstr("c must be 1 or more"));
}

TEST(L1Ball, WithBoundOneIsTheLargestEntry) {
  Vector u(4);
  l1ball(1)->maximize((Vector(4) << 1, -3, 3, 2).finished(), u);
  EXPECT_EQ(u, -Vector::Unit(4, 1)) << "the first of two that tie";
}

}  // namespace
}  // namespace pursuit
