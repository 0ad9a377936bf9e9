// Smooth vectors against their dual: for every beta that leaves M(beta) = diag(a) + beta (L - lambda I)
// positive definite, no member gains more than b^T M(beta)^-1 b, and the smallest of these is reached.

#include "atoms/exhaustive_test_support.hpp"
#include "linalg/cholesky.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

Matrix path_laplacian(Index n) {
  Matrix L = Matrix::Zero(n, n);
  for (Index i = 0; i + 1 < n; ++i) {
    L(i, i) += 1;
    L(i + 1, i + 1) += 1;
    L(i, i + 1) -= 1;
    L(i + 1, i) -= 1;
  }
  return L;
}

/// The smallest bound of all beta, which is convex in beta, by ternary search with dense factorizations.
/// Where no beta > 0 leaves the matrix positive definite, the gain without the constraint is the bound.
double dual_gain(const Vector& a, const Vector& b, double lambda) {
  const Index n = b.size();
  const Matrix shifted = path_laplacian(n) - lambda * Matrix::Identity(n, n);
  const auto bound = [&](double beta) {
    const Cholesky factored(Matrix(a.asDiagonal()) + beta * shifted);
    if (!factored.definite()) return std::numeric_limits<double>::infinity();
    return b.dot(factored.solve(b).col(0));
  };
  double lo = 0, hi = a.mean() / lambda;
  double best = (a.array() > 0).select(b.array().square() / a.array(), 0.0).sum();
  for (int step = 0; step < 400 && hi - lo > 0; ++step) {
    const double left = lo + (hi - lo) / 3, right = hi - (hi - lo) / 3;
    const double at_left = bound(left), at_right = bound(right);
    best = std::min({best, at_left, at_right});
    (at_left <= at_right ? hi : lo) = at_left <= at_right ? right : left;
    if (!(left > lo || right < hi)) break;
  }
  return best;
}

exhaustive::Reference reference(double lambda) {
  return {[=](const Vector& g) { return std::sqrt(dual_gain(Vector::Ones(g.size()), g, lambda)); },
          [=](const Vector& a, const Vector& b) { return a.maxCoeff() > 0 ? dual_gain(a, b, lambda) : 0.0; },
          [=](const Vector& u) {
            return std::abs(u.norm() - 1) < 1e-12 &&
                   u.dot(path_laplacian(u.size()) * u) <= lambda * (1 + 1e-9);
          }};
}

double any_lambda() {
  return *rc::gen::element(0.01, 0.1, 0.5, 1.0, 2.0, 3.9, 5.0);
}

RC_GTEST_PROP(Smooth, ReachesTheBoundOfItsDual, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const double lambda = any_lambda();
  exhaustive::check_oracles(*smooth(lambda), n, reference(lambda), {.tolerance = 1e-5});
}

RC_GTEST_PROP(Smooth, ReachesTheBoundWhereConstantsGainNothing, ()) {
  // The hard case: the matrix becomes singular before the constraint is met.
  const Index n = *rc::gen::inRange<Index>(2, 9);
  const double lambda = any_lambda();
  Vector b = exhaustive::any_vector(n);
  b -= Vector(Vector::Constant(n, b.mean()));
  if (b.cwiseAbs().maxCoeff() < 1e-9) b.setZero();
  exhaustive::check_maximize(*smooth(lambda), b, reference(lambda), {.tolerance = 1e-6});
  exhaustive::check_fit(*smooth(lambda), Vector::Ones(n), b, exhaustive::any_sign(), reference(lambda),
                        {.tolerance = 1e-6});
}

TEST(Smooth, AllowsEverythingFromTheLargestEigenvalueOn) {
  Vector u(5);
  const Vector rough = (Vector(5) << 1, -1, 1, -1, 1).finished();
  smooth(4)->maximize(rough, u);
  EXPECT_LT(max_difference(u, rough.normalized()), 1e-12);
}

TEST(Smooth, RefusesRoughnessThatIsNoBound) {
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(message_of<InvalidArgument>([=] { smooth(bad); }),
                testing::HasSubstr("the roughness must be a number above 0"));
}

}  // namespace
}  // namespace pursuit
