#include "pursuit/objective/full_squares.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

Expansion random_model(Index n, Index m, Index r, std::uint64_t seed) {
  return {gaussian(n, r, seed), gaussian(m, r, seed + 1), Vector(gaussian(r, 1, seed + 2))};
}

Matrix atom(const Factors& z, Index k) {
  return z[0].col(k) * z[1].col(k).transpose();
}

/// What f says of where it is is what the matrices say.
void expect_true_to(const Matrix& Y, const FullSquares& f) {
  const Matrix R = Y - (f.iterate().rank() > 0 ? f.iterate().dense() : Matrix::Zero(Y.rows(), Y.cols()));
  EXPECT_NEAR(f.value(), 0.5 * R.squaredNorm(), 1e-11 * (1 + Y.squaredNorm()));
  const auto [gram, linear] = f.weight_quadratic();
  ASSERT_EQ(linear.size(), f.iterate().rank());
  for (Index i = 0; i < linear.size(); ++i) {
    const Matrix z = atom(f.iterate().factors, i);
    EXPECT_NEAR(linear[i], Y.cwiseProduct(z).sum(), 1e-10 * (1 + Y.norm()));
    for (Index j = 0; j < linear.size(); ++j)
      EXPECT_NEAR(gram(i, j), z.cwiseProduct(atom(f.iterate().factors, j)).sum(), 1e-11);
  }
  for (const Index width : {1, 5}) {
    const Matrix V = gaussian(Y.cols(), width, 3), U = gaussian(Y.rows(), width, 4);
    Panel out;
    f.contract(0, Factors(Panel(), V), out);
    EXPECT_LT(max_difference(out, R * V), 1e-10);
    f.contract(1, Factors(U, Panel()), out);
    EXPECT_LT(max_difference(out, R.transpose() * U), 1e-10);
  }
}

TEST(FullSquares, SaysTheTruthWhereverItMoves) {
  const Matrix Y = gaussian(30, 20, 1);
  FullSquares f(data_matrix(Y));
  expect_true_to(Y, f);
  for (const Index r : {4, 1, 0, 3}) {
    f.move_to(random_model(30, 20, r, 2));
    expect_true_to(Y, f);
  }
  const Factors z(gaussian(30, 1, 5), gaussian(20, 1, 6));
  Panel image;
  f.contract(0, z, image);
  f.append(z, image.col(0).dot(z[0].col(0)));
  expect_true_to(Y, f);
  f.reweigh((Vector(4) << 0.5, 0, 2, -1).finished());
  expect_true_to(Y, f);
  const Factors other(gaussian(30, 1, 7), gaussian(20, 1, 8));
  f.contract(0, other, image);
  f.replace(1, other, image.col(0).dot(other[0].col(0)), 0.7);
  expect_true_to(Y, f);
  f.reweigh((Vector(4) << 0.5, 0, 2, -1).finished());
  f.keep({0, 2, 3});
  expect_true_to(Y, f);
}

TEST(FullSquares, ParabolasSayHowAFactorChangesTheValue) {
  const Matrix Y = gaussian(12, 9, 1);
  for (const Index mode : {0, 1}) {
    FullSquares f(data_matrix(Y));
    f.move_to(random_model(12, 9, 3, 2));
    const Vector x = gaussian(mode == 0 ? 12 : 9, 1, 7),
                 was = f.iterate().weights[1] * f.iterate().factors[mode].col(1);
    const double before = f.value();
    const auto system = f.along(mode);
    Parabolas p;
    system->parabolas(1, nullptr, p);
    ASSERT_TRUE(p.is_uniform());
    const auto value = [&](const Vector& at) { return 0.5 * p.uniform * at.squaredNorm() - p.b.dot(at); };
    system->move(1, x / x.norm(), x.norm());
    EXPECT_NEAR(f.value() - before, value(x) - value(was), 1e-10);
    expect_true_to(Y, f);
  }
}

TEST(FullSquares, RelativeErrorSurvivesCancellation) {
  // The model misses Y by 1e-9 of its norm, which f = 1/2 ||Y||^2 - ... cannot see in double precision.
  const Expansion model = random_model(9, 7, 3, 2);
  const Matrix noise = gaussian(9, 7, 8), Y = model.dense() + 1e-9 * noise;
  FullSquares f(data_matrix(Y));
  EXPECT_EQ(f.relative_error(), 1);
  f.move_to(model);
  const double expected = 1e-9 * noise.norm() / Y.norm();
  EXPECT_NEAR(f.relative_error(), expected, 1e-6 * expected);
}

TEST(FullSquares, RelativeErrorOfFloatDataKnowsItsPrecision) {
  // Products with float data carry errors of about 1e-7, and f has them too: 1e-7 of f is 3e-4 of the error.
  const Expansion model = random_model(40, 30, 2, 2);
  const Eigen::MatrixXf Y = model.dense().cast<float>();
  FullSquares f(data_matrix(Y));
  f.move_to(model);
  const double expected = (Y.cast<double>() - model.dense()).norm() / Y.cast<double>().norm();
  EXPECT_NEAR(f.relative_error(), expected, 1e-6 * expected);
}

TEST(FullSquares, OfZeroHasNoError) {
  const Matrix zero = Matrix::Zero(3, 4);
  EXPECT_EQ(FullSquares(data_matrix(zero)).relative_error(), 0);
}

TEST(FullSquares, RefusesAMatrixWhoseSquaredNormOverflows) {
  const Matrix large = Matrix::Constant(3, 4, 1e200);
  EXPECT_THAT(message_of<InvalidInput>([&] { FullSquares f(data_matrix(large)); }),
              testing::HasSubstr("squared norm"));
}

}  // namespace
}  // namespace pursuit
