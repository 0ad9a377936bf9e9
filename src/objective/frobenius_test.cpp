#include "pursuit/objective/frobenius.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

Model random_model(Index n, Index m, Index r, std::uint64_t seed) {
  return {gaussian(n, r, seed), gaussian(m, r, seed + 1), Vector(gaussian(r, 1, seed + 2))};
}

TEST(FrobeniusObjective, ResidualIsTheDifference) {
  const Matrix Y = gaussian(30, 20, 1);
  const FrobeniusObjective f(data_matrix(Y));
  for (const Index r : {0, 1, 4}) {
    Model model = random_model(30, 20, r, 2);
    const Matrix R = Y - model.dense();
    const auto residual = f.residual(model);
    EXPECT_EQ(residual->rows(), 30);
    EXPECT_EQ(residual->cols(), 20);
    for (const Index width : {1, 5}) {
      const Matrix V = gaussian(20, width, 3), U = gaussian(30, width, 4);
      Matrix out;
      residual->apply(V, out);
      EXPECT_LT(max_difference(out, R * V), 1e-12);
      residual->apply_transposed(U, out);
      EXPECT_LT(max_difference(out, R.transpose() * U), 1e-12);
      residual->apply_gram(V, out);
      EXPECT_LT(max_difference(out, R.transpose() * (R * V)), 1e-10);
    }
  }
}

TEST(FrobeniusObjective, InnerProductsAreThoseOfTheMatrices) {
  const Matrix Y = gaussian(9, 7, 1);
  const FrobeniusObjective f(data_matrix(Y));
  const Model model = random_model(9, 7, 3, 2);
  const Vector u = gaussian(9, 1, 5), v = gaussian(7, 1, 6);
  const Vector products = f.inner_products(model, u, v);
  const Matrix gram = f.gram(model);
  const auto atom = [&](Index i) -> Matrix { return model.left.col(i) * model.right.col(i).transpose(); };
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(products[i], (u * v.transpose()).cwiseProduct(atom(i)).sum(), 1e-12);
    for (Index j = 0; j < 3; ++j) EXPECT_NEAR(gram(i, j), atom(i).cwiseProduct(atom(j)).sum(), 1e-12);
  }
  EXPECT_NEAR(f.target_norm_squared(), Y.squaredNorm(), 1e-12);
}

TEST(FrobeniusObjective, RelativeErrorSurvivesCancellation) {
  // The model misses Y by 1e-9 of its norm, which f = 1/2 ||Y||^2 - ... cannot see in double precision.
  Model model = random_model(9, 7, 3, 2);
  const Matrix noise = gaussian(9, 7, 8), Y = model.dense() + 1e-9 * noise;
  const FrobeniusObjective f(data_matrix(Y));
  const double expected = 1e-9 * noise.norm() / Y.norm();
  EXPECT_NEAR(f.relative_error(model, 1e-17), expected, 1e-6 * expected);
  EXPECT_NEAR(f.relative_error(model, 0.125 * Y.squaredNorm()), 0.5, 1e-12)
      << "taken from f where f is large";
}

TEST(FrobeniusObjective, RelativeErrorOfFloatDataKnowsItsPrecision) {
  // Products with float data carry errors of about 1e-7, and f has them too: 1e-7 of f is 3e-4 of the error.
  Model model = random_model(40, 30, 2, 2);
  const Eigen::MatrixXf Y = model.dense().cast<float>();
  const FrobeniusObjective f(data_matrix(Y));
  const double expected = (Y.cast<double>() - model.dense()).norm() / Y.cast<double>().norm();
  EXPECT_NEAR(f.relative_error(model, 2e-8 * 0.5 * f.target_norm_squared()), expected, 1e-6 * expected);
}

TEST(FrobeniusObjective, OfZeroHasNoError) {
  const Matrix zero = Matrix::Zero(3, 4);
  const FrobeniusObjective f(data_matrix(zero));
  EXPECT_EQ(f.relative_error(Model{Matrix(3, 0), Matrix(4, 0), Vector(0)}, 0), 0);
}

TEST(FrobeniusObjective, RefusesAMatrixWhoseSquaredNormOverflows) {
  const Matrix large = Matrix::Constant(3, 4, 1e200);
  EXPECT_THAT(message_of<InvalidInput>([&] { FrobeniusObjective f(data_matrix(large)); }),
              testing::HasSubstr("squared norm"));
}

}  // namespace
}  // namespace pursuit
