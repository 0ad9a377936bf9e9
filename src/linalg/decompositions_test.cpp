#include "linalg/decompositions.hpp"

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "linalg/cholesky.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

Matrix identity(Index n) {
  return Matrix::Identity(n, n);
}

void expect_orthonormal(const Matrix& Q) {
  EXPECT_LT(max_difference(Matrix(Q.transpose() * Q), identity(Q.cols())), 1e-13);
}

TEST(SymmetricEigen, DiagonalisesWhatTheLowerTriangleSays) {
  for (const Index n : {1, 2, 9, 64, 65, 150}) {  // both sides of the size up to which Eigen is faster
    const Matrix half = gaussian(n, n, std::uint64_t(n)), C = half + half.transpose();
    Matrix stored = C;
    stored.triangularView<Eigen::StrictlyUpper>().setConstant(std::numeric_limits<double>::quiet_NaN());
    const SymmetricEigen eigen = symmetric_eigen(stored);
    expect_orthonormal(eigen.vectors);
    EXPECT_TRUE(std::is_sorted(eigen.values.begin(), eigen.values.end()));
    EXPECT_LT(max_difference(eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose(), C),
              1e-13 * double(n) * C.norm());
  }
  EXPECT_EQ(symmetric_eigen(Matrix(0, 0)).values.size(), 0);
}

TEST(ThinSvd, IsAFactorizationOfAnyShape) {
  for (const auto& [n, m] : {std::pair<Index, Index>{1, 1}, {7, 7}, {90, 4}, {4, 90}, {120, 100}, {6, 0}}) {
    const Matrix A = gaussian(n, m, 3);
    const ThinSvd svd = thin_svd(A);
    EXPECT_EQ(svd.values.size(), std::min(n, m));
    expect_orthonormal(svd.left);
    expect_orthonormal(svd.right);
    EXPECT_TRUE(std::is_sorted(svd.values.begin(), svd.values.end(), std::greater<>()));
    EXPECT_LT(max_difference(svd.left * svd.values.asDiagonal() * svd.right.transpose(), A), 1e-12);
  }
}

TEST(ThinSvd, KeepsItsDigitsAtTheEndsOfTheRange) {
  const Matrix A = gaussian(20, 6, 1);
  const Vector expected = thin_svd(A).values;
  for (const double scale : {1e-290, 1e290})
    EXPECT_LT(max_difference(thin_svd(scale * A).values / scale, expected), 1e-12 * expected[0]) << scale;
}

TEST(OrthonormalBasis, SpansTheFirstColumns) {
  for (const auto& [n, m] : {std::pair<Index, Index>{40, 5}, {5, 5}, {5, 9}, {3, 0}}) {
    const Matrix A = gaussian(n, m, 4), Q = orthonormal_basis(A);
    EXPECT_EQ(Q.cols(), std::min(n, m));
    expect_orthonormal(Q);
    EXPECT_LT(max_difference(Matrix(Q * (Q.transpose() * A)), A), 1e-12);
  }
}

TEST(IndependentBasis, LeavesOutDependentColumns) {
  const Matrix three = gaussian(30, 3, 5);
  Matrix A(30, 6);
  A << three, three.col(0) + three.col(2), Vector::Zero(30), -2 * three.col(1);
  const Matrix Q = independent_basis(A);
  EXPECT_EQ(Q.cols(), 3);
  expect_orthonormal(Q);
  EXPECT_LT(max_difference(Matrix(Q * (Q.transpose() * A)), A), 1e-12);
  EXPECT_EQ(independent_basis(Matrix::Zero(4, 3)).cols(), 0);
  Matrix nearly = three;
  nearly.col(2) = three.col(0) + 1e-9 * three.col(2);
  EXPECT_EQ(independent_basis(nearly).cols(), 3);
  EXPECT_EQ(independent_basis(nearly, 1e-6).cols(), 2);
}

TEST(LeastSquares, IsTheSolutionOfLeastNorm) {
  const Matrix wide = gaussian(4, 9, 6), B = gaussian(4, 2, 7);
  const Matrix X = least_squares(wide, B);
  EXPECT_LT(max_difference(Matrix(wide * X), B), 1e-12);
  const Matrix onto_rows = orthonormal_basis(wide.transpose());
  EXPECT_LT(max_difference(Matrix(onto_rows * (onto_rows.transpose() * X)), X), 1e-12) << "nothing beside";

  const Matrix tall = gaussian(20, 3, 8), right = gaussian(20, 1, 9);
  EXPECT_LT((tall.transpose() * (right - tall * least_squares(tall, right))).norm(), 1e-12);

  Matrix twice(20, 2);
  twice << tall.col(0), tall.col(0);
  const Vector shared = least_squares(twice, tall.col(0));
  EXPECT_LT(max_difference(shared, Vector::Constant(2, 0.5)), 1e-12);
}

TEST(SemidefiniteRoot, GivesTheMatrixBack) {
  for (const Index rank : {3, 8}) {
    const Matrix half = gaussian(rank, 8, 10), C = half.transpose() * half;
    double smallest = 1;
    const Matrix root = semidefinite_root(C, &smallest);
    EXPECT_LT(max_difference(Matrix(root.transpose() * root), C), 1e-12);
    EXPECT_EQ(smallest == 1, rank == 8);
  }
}

TEST(Decompositions, RefuseWhatIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const Index n : {5, 80}) {
      Matrix A = gaussian(n, n, 11);
      A(3, 1) = bad;
      EXPECT_THROW(symmetric_eigen(A), InvalidInput);
      EXPECT_THROW(thin_svd(A), InvalidInput);
      EXPECT_THROW(orthonormal_basis(A), InvalidInput);
      EXPECT_THROW(independent_basis(A), InvalidInput);
      EXPECT_THROW(least_squares(A, identity(n)), InvalidInput);
      EXPECT_THROW(least_squares(identity(n), A), InvalidInput);
      EXPECT_FALSE(Cholesky(A.transpose() * A).definite());
    }
}

TEST(Decompositions, HaveTheSameBitsFromManyThreads) {
  const Matrix A = gaussian(150, 90, 12), C = A.transpose() * A;
  const Matrix values = symmetric_eigen(C).vectors, left = thin_svd(A).left, Q = orthonormal_basis(A);
  std::vector<int> same(4, 0);
  std::vector<std::thread> threads;
  for (int& each : same)
    threads.emplace_back([&] {
      each = same_bits(symmetric_eigen(C).vectors, values) && same_bits(thin_svd(A).left, left) &&
             same_bits(orthonormal_basis(A), Q);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(same, testing::Each(1));
}

TEST(Cholesky, SolvesWhatIsDefiniteAndSaysWhatIsNot) {
  const Matrix half = gaussian(12, 5, 13), C = half.transpose() * half, B = gaussian(5, 2, 14);
  const Cholesky cholesky(C);
  ASSERT_TRUE(cholesky.definite());
  EXPECT_LT(max_difference(Matrix(C * cholesky.solve(B)), B), 1e-11);
  EXPECT_LT(max_difference(Matrix(cholesky.upper().transpose() * cholesky.upper()), C), 1e-12);
  EXPECT_GT(cholesky.reciprocal_condition(), 1e-4);
  EXPECT_FALSE(Cholesky(-C).definite());
}

TEST(SolveSquare, FindsASolutionWhereThereIsOne) {
  const Matrix A = gaussian(6, 6, 15);
  const Vector b = gaussian(6, 1, 16);
  EXPECT_LT(max_difference(Vector(A * solve_square(A, b)), b), 1e-11);
  const Matrix half = gaussian(6, 2, 17), singular = half * half.transpose();
  const Vector reached = singular * b;
  EXPECT_LT(max_difference(Vector(singular * solve_square(singular, reached)), reached), 1e-11);
}

}  // namespace
}  // namespace pursuit
