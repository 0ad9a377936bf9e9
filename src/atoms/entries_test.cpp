// Boxes against their corners and a dense search over scales, signs against all of them.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

/// For every scale the best entries are the free ones, clipped; the value is convex in the scale, and between
/// the scales at which entries meet their bounds it is quadratic: three points tell where it is lowest.
double box_gain(const Vector& a, const Vector& b, double lo, double hi) {
  const auto value = [&](double t) {
    double sum = 0;
    for (Index i = 0; i < b.size(); ++i) {
      if (!(a[i] > 0)) continue;
      const double x = std::min(std::max(b[i] / a[i], t * lo), t * hi);
      sum += (a[i] * x - 2 * b[i]) * x;
    }
    return sum;
  };
  std::vector<double> meets{0};
  for (Index i = 0; i < b.size(); ++i)
    for (const double bound : {lo, hi})
      if (a[i] > 0 && bound != 0 && b[i] / a[i] / bound > 0) meets.push_back(b[i] / a[i] / bound);
  std::sort(meets.begin(), meets.end());
  meets.push_back(2 * meets.back() + 1);
  double best = 0;
  for (std::size_t k = 0; k + 1 < meets.size(); ++k) {
    const double left = meets[k], width = meets[k + 1] - left;
    const double first = value(left), middle = value(left + width / 2), last = value(meets[k + 1]);
    const double bend = 2 * (first - 2 * middle + last), slope = 4 * middle - 3 * first - last;
    best = std::min({best, first, last});
    if (bend > 0)
      best = std::min(best, value(left + width * std::min(std::max(-slope / (2 * bend), 0.0), 1.0)));
  }
  return -best;
}

RC_GTEST_PROP(Box, IsTheBestOfItsCornersAndOfAllScales, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const auto [lo, hi] = *rc::gen::element(std::pair{-1.0, 1.0}, std::pair{0.0, 2.0}, std::pair{1.0, 2.0},
                                          std::pair{1.0, 1.0}, std::pair{-2.0, -1.0}, std::pair{-3.0, 0.0},
                                          std::pair{-0.5, 2.0}, std::pair{1.0, 100.0});
  const double low = lo, high = hi;
  const exhaustive::Reference reference{
      [=](const Vector& g) {
        double sum = 0;
        for (const double x : g) sum += std::max(low * x, high * x);
        return sum;
      },
      [=](const Vector& a, const Vector& b) { return box_gain(a, b, low, high); },
      [=](const Vector& u) { return u.minCoeff() >= low && u.maxCoeff() <= high; }};
  exhaustive::check_oracles(*box(low, high), n, reference, {.tolerance = 1e-11});
}

TEST(Box, NeverAnswersZeroWhereItNeedNot) {
  Vector u(2);
  box(0, 1)->maximize(Vector::Zero(2), u);
  EXPECT_EQ(u, Vector::Ones(2));
  box(-3, 0)->maximize(Vector::Zero(2), u);
  EXPECT_EQ(u, Vector::Constant(2, -3));
}

TEST(Box, FitFindsTheBetterSignOfNumbersWhoseSquaresVanishOrOverflow) {
  for (const double scale : {1e-170, 1.0, 1e170}) {
    Vector u(2);
    EXPECT_NEAR(box(1, 1)->fit(1.0, scale * Vector::Constant(2, -3), Sign::free, u) / scale, -3, 1e-12);
    EXPECT_EQ(u, Vector::Ones(2));
  }
}

TEST(Box, RefusesBoundsWithoutAVectorBetweenThem) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const auto& [lo, hi] :
       {std::pair{2.0, 1.0}, {0.0, 0.0}, {-inf, 1.0}, {0.0, inf}, {nan, 1.0}, {0.0, nan}})
    EXPECT_THAT(message_of<InvalidArgument>([lo = lo, hi = hi] { box(lo, hi); }),
                testing::HasSubstr("needs two numbers lo <= hi that are not both 0"));
}

RC_GTEST_PROP(Signs, AreTheBestOfAll, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const auto over_all = [](Index size, const auto& visit) {
    for (unsigned mask = 0; mask < (1U << unsigned(size)); ++mask) {
      Vector u(size);
      for (Index i = 0; i < size; ++i) u[i] = exhaustive::in_support(mask, i) ? 1 : -1;
      visit(u);
    }
  };
  const exhaustive::Reference reference{[=](const Vector& g) {
                                          double best = -std::numeric_limits<double>::infinity();
                                          over_all(g.size(),
                                                   [&](const Vector& u) { best = std::max(best, g.dot(u)); });
                                          return best;
                                        },
                                        [=](const Vector& a, const Vector& b) {
                                          double best = 0;
                                          over_all(b.size(), [&](const Vector& u) {
                                            if (const double slope = b.dot(u); slope > 0)
                                              best = std::max(best, slope * slope / a.sum());
                                          });
                                          return best;
                                        },
                                        [](const Vector& u) { return (u.array().abs() == 1).all(); }};
  exhaustive::check_oracles(*signs(), n, reference);
}

TEST(Signs, CountZerosAsPositive) {
  Vector u(3);
  signs()->maximize((Vector(3) << -1, 0, -0.0).finished(), u);
  EXPECT_EQ(u, (Vector(3) << -1, 1, 1).finished());
}

}  // namespace
}  // namespace pursuit
