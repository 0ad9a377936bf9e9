// Parabolas that are made steeper, and what factors pay for their size.

#include "correction/factor_fits.hpp"

#include "linalg/decompositions.hpp"
#include "pursuit/objective/full_squares.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

Vector slope_at(const Parabolas& p, const Vector& x) {
  const Vector a = p.is_uniform() ? Vector::Constant(x.size(), p.uniform) : p.a;
  return a.cwiseProduct(x) - p.b;
}

TEST(SteeperParabolas, HaveTheirSlopeWhereTheyAreTaken) {
  const Index n = 7;
  const Vector x = gaussian(n, 1, 1);
  for (const bool uniform : {true, false}) {
    Parabolas p;
    p.b = gaussian(n, 1, 2);
    if (uniform)
      p.uniform = 1.7;
    else
      p.a = Vector(gaussian(n, 1, 3)).cwiseAbs();
    const Parabolas before = p;
    steepen(p, 3, x);
    EXPECT_LT(max_difference(slope_at(p, x), slope_at(before, x)), 1e-13);
    EXPECT_LT(max_difference(slope_at(p, x + Vector::Ones(n)) - slope_at(p, x),
                             3 * (slope_at(before, x + Vector::Ones(n)) - slope_at(before, x))),
              1e-13);
    if (uniform) continue;
    p = before;
    level(p, 1, x);
    EXPECT_EQ(p.uniform, before.a.maxCoeff());
    EXPECT_LT(max_difference(slope_at(p, x), slope_at(before, x)), 1e-13);
  }
}

/// min over X, Z of ||Y - X Z^T||^2 / 2 + lambda (||X||^2 + ||Z||^2) / 2 has the leading singular vectors of
/// Y, and their values less lambda.
TEST(FactorsThatPayARidge, TakeLambdaOffTheSingularValues) {
  const Index r = 3;
  const Matrix Y = gaussian(9, 7, 4);
  const ThinSvd svd = thin_svd(Y);
  const double lambda = 0.4 * svd.values[r - 1];
  FullSquares f(matrix_target(data_matrix(Y)), false);
  Expansion start{gaussian(9, r, 5), gaussian(7, r, 6), Vector::Ones(r), false};
  start.left().colwise().normalize();
  start.right().colwise().normalize();
  f.move_to(start);
  CorrectionOptions options;
  options.sweeps = 5000;
  options.tolerance = 0;
  Corrections(f, AtomSets(sphere(), sphere()), {Regularization::ridge, lambda}).run(options);
  const Vector shrunk = (svd.values.head(r).array() - lambda).matrix();
  const Matrix expected = svd.left.leftCols(r) * shrunk.asDiagonal() * svd.right.leftCols(r).transpose();
  EXPECT_LT((f.iterate().dense() - expected).norm(), 1e-6 * Y.norm());
}

}  // namespace
}  // namespace pursuit
