// Convex and concave sequences against all sets of knots.

#include "atoms/exhaustive_test_support.hpp"
#include "linalg/decompositions.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

bool is_convex(const Vector& x, double tolerance) {
  for (Index i = 1; i + 1 < x.size(); ++i)
    if (x[i - 1] - 2 * x[i] + x[i + 1] < -tolerance) return false;
  return true;
}

/// The best convex sequence: the lines, and one hinge for every knot, by dense least squares for every set of
/// knots. A little curvature everywhere determines what nothing else does.
Vector best_convex(const Vector& a, const Vector& b) {
  const Index n = b.size();
  const Vector curvature = a.cwiseMax(1e-12 * a.maxCoeff());
  Vector best = Vector::Zero(n);
  double value = 0;
  const unsigned inner = n > 2 ? unsigned(n) - 2 : 0;
  for (unsigned knots = 0; knots < (1U << inner); ++knots) {
    Matrix basis(n, std::min<Index>(n, 2) + std::popcount(knots));
    basis.col(0).setOnes();
    if (n > 1) basis.col(1) = Vector::LinSpaced(n, -1, 1);
    Index next = 2;
    for (Index j = 1; j + 1 < n; ++j)
      if (exhaustive::in_support(knots, j - 1)) {
        for (Index i = 0; i < n; ++i) basis(i, next) = double(std::max<Index>(i - j, 0)) / double(n);
        ++next;
      }
    const Matrix gram = basis.transpose() * curvature.asDiagonal() * basis;
    const Vector weights = least_squares(gram, basis.transpose() * b), x = basis * weights;
    if (!x.allFinite() || !is_convex(x, 1e-9 * (1 + x.norm()))) continue;
    if (const double reached = exhaustive::parabolas(a, b, 1, x); reached < value) {
      value = reached;
      best = x;
    }
  }
  return best;
}

exhaustive::Reference reference(Curve curve) {
  const double side = curve == Curve::convex ? 1 : -1;
  return {[=](const Vector& g) {
            const Vector x = best_convex(Vector::Ones(g.size()), side * g);
            return x.norm() > 0 ? side * g.dot(x) / x.norm() : 0.0;
          },
          [=](const Vector& a, const Vector& b) {
            return -exhaustive::parabolas(a, side * b, 1, best_convex(a, side * b));
          },
          [=](const Vector& u) { return std::abs(u.norm() - 1) < 1e-12 && is_convex(side * u, 1e-11); }};
}

RC_GTEST_PROP(Shape, IsTheBestOfAllSetsOfKnots, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const auto curve = *rc::gen::element(Curve::convex, Curve::concave);
  exhaustive::check_oracles(*shape(curve), n, reference(curve), {.tolerance = 1e-8});
}

TEST(Shape, LosesNothingOfWhatIsConvexAlready) {
  for (const Index n : {3, 10, 1000}) {
    const Vector parabola = Vector::LinSpaced(n, -1, 2).array().square().matrix().normalized();
    Vector u(n);
    shape(Curve::convex)->maximize(parabola, u);
    EXPECT_GT(parabola.dot(u), 1 - 1e-10) << n;
    shape(Curve::concave)->maximize(-parabola, u);
    EXPECT_LT(parabola.dot(u), -1 + 1e-10) << n;
  }
}

TEST(Shape, MeetsTheConditionsOfOptimalityOnLongVectors) {
  // The residual of a projection onto a cone is orthogonal to it and has no positive product with a member.
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Index n = 300;
    const Vector b = gaussian(n, 1, seed) + 10 * Vector::LinSpaced(n, -1, 1).cwiseAbs();
    const Vector a = uniform(n, 1, seed + 50).array() + 0.1;
    Vector u(n);
    const double t = shape(Curve::convex)->fit(a, b, Sign::nonnegative, u);
    EXPECT_TRUE(is_convex(u, 1e-12));
    const Vector residual = b - t * a.cwiseProduct(u);
    EXPECT_NEAR(residual.dot(u), 0, 1e-8 * b.norm());
    EXPECT_NEAR(residual.sum(), 0, 1e-8 * b.norm() * std::sqrt(double(n)));
    for (Index j = 1; j + 1 < n; ++j) {
      Vector hinge = Vector::Zero(n);
      for (Index i = j + 1; i < n; ++i) hinge[i] = double(i - j);
      EXPECT_LE(residual.dot(hinge), 1e-8 * b.norm() * hinge.norm()) << "hinge at " << j;
    }
  }
}

}  // namespace
}  // namespace pursuit
