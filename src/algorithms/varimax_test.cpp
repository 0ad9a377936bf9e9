#include "algorithms/varimax.hpp"

#include <gtest/gtest.h>

#include "linalg/decompositions.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

/// Loadings with few large entries, hidden by a rotation.
Matrix hidden_loadings(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  const Matrix L = random.gaussian_matrix(rows, columns).array().cube();
  return 3 * L * orthonormal_basis(random.gaussian_matrix(columns, columns));
}

/// What is maximised: the variance of the squared entries of each column, added up.
double variance_of_squares(const Matrix& X) {
  const Matrix squares = X.array().square();
  return (squares.array().square().colwise().mean() - squares.colwise().mean().array().square()).sum();
}

/// One iteration as it is written down in textbooks.
Matrix plain_step(const Matrix& L, const Matrix& rotation) {
  const Matrix X = L * rotation;
  const Vector means = X.array().square().colwise().mean();
  const Matrix slope = L.transpose() * (X.array().cube().matrix() - X * means.asDiagonal());
  const ThinSvd svd = thin_svd(slope);
  return svd.left * svd.right.transpose();
}

TEST(Varimax, IsWhereAPlainIterationStands) {
  for (const Index columns : {1, 2, 5, 16, 17, 20}) {  // by fourth moments and without
    const Matrix L = hidden_loadings(401, columns, std::uint64_t(columns));
    const Matrix start = Matrix::Identity(columns, columns), rotation = varimax_rotation(L, start);
    EXPECT_LT((rotation.transpose() * rotation - start).norm(), 1e-12) << columns;
    const double value = variance_of_squares(L * rotation);
    EXPECT_GE(value, variance_of_squares(L) * (1 - 1e-12)) << columns;
    EXPECT_NEAR(variance_of_squares(L * plain_step(L, rotation)) / value, 1, 1e-4) << columns;
    Matrix plain = start;
    for (int k = 0; k < 200; ++k) plain = plain_step(L, plain);
    EXPECT_NEAR(value / variance_of_squares(L * plain), 1, 1e-3) << columns;
  }
}

TEST(Varimax, IsTheSameBitsForAnyNumberOfThreads) {
  for (const Index columns : {3, 16, 18}) {
    const Matrix L = hidden_loadings(3001, columns, 7), start = Matrix::Identity(columns, columns);
    const Matrix one = varimax_rotation(L, start, 1);
    for (const int threads : {2, 3, 16}) EXPECT_EQ(varimax_rotation(L, start, threads), one) << threads;
  }
}

TEST(Varimax, OneRowAndRowsOfZerosLeaveARotation) {
  for (const Matrix& L : {Matrix(Matrix::Ones(1, 3)), Matrix(Matrix::Zero(5, 3))}) {
    const Matrix rotation = varimax_rotation(L, Matrix::Identity(3, 3));
    EXPECT_LT((rotation.transpose() * rotation - Matrix::Identity(3, 3)).norm(), 1e-12);
  }
}

}  // namespace
}  // namespace pursuit
