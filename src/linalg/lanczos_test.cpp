// Leading singular triplets and eigenpairs against dense decompositions.

#include "linalg/lanczos.hpp"

#include "linalg/block_lanczos.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/randomized_svd.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

Matrix random_orthonormal(Index rows, Index cols, std::uint64_t seed) {
  return orthonormal_basis(gaussian(rows, cols, seed));
}

Matrix with_singular_values(Index rows, Index cols, const Vector& values, std::uint64_t seed) {
  return random_orthonormal(rows, values.size(), seed) * values.asDiagonal() *
         random_orthonormal(cols, values.size(), seed + 1).transpose();
}

Matrix with_eigenvalues(const Vector& values, Index n, std::uint64_t seed) {
  const Matrix Q = random_orthonormal(n, values.size(), seed), C = Q * values.asDiagonal() * Q.transpose();
  return 0.5 * (C + C.transpose());
}

Vector singular_values(const Matrix& A) {
  const Matrix gram = A.rows() < A.cols() ? Matrix(A * A.transpose()) : Matrix(A.transpose() * A);
  return symmetric_eigen(gram).values.reverse().cwiseMax(0.0).cwiseSqrt();
}

/// Orthonormal factors, descending values, and A v_i = s_i u_i, A^T u_i = s_i v_i: what makes triplets
/// singular.
void expect_singular_triplets(const SingularTriplets& found, const Matrix& A, double tolerance) {
  const Index r = found.values.size();
  EXPECT_LT(max_difference(found.left.transpose() * found.left, Matrix::Identity(r, r)), 1e-12);
  EXPECT_LT(max_difference(found.right.transpose() * found.right, Matrix::Identity(r, r)), 1e-12);
  for (Index i = 1; i < r; ++i) EXPECT_LE(found.values[i], found.values[i - 1]);
  const double bound = tolerance * A.norm();
  EXPECT_LT(max_difference(A * found.right, found.left * found.values.asDiagonal()), bound);
  EXPECT_LT(max_difference(A.transpose() * found.left, found.right * found.values.asDiagonal()), bound);
}

TEST(TruncatedSvd, IsTheDenseOne) {
  for (const auto& [n, m] :
       {std::pair<Index, Index>{200, 90}, {90, 200}, {100, 100}, {40, 12}, {1, 30}, {30, 1}}) {
    const Matrix A = gaussian(n, m, std::uint64_t(n));
    const Vector expected = singular_values(A);
    for (const Index count : {Index(1), Index(7), std::min(n, m)}) {
      SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(m) + ", " + std::to_string(count));
      const auto found = truncated_svd(*data_matrix(A), count);
      const Index r = std::min({count, n, m});
      ASSERT_EQ(found.values.size(), r);
      EXPECT_LT(max_difference(found.values, expected.head(r)), 1e-11 * expected[0]);
      expect_singular_triplets(found, A, 1e-8);  // a vector is known to the square root of its value
    }
  }
}

/// The largest |A v - s u| and |A^T u - s v|, over s.
double largest_residual(const SingularTriplets& found, const Matrix& A) {
  const auto over = found.values.cwiseInverse().asDiagonal();
  const auto scaled = found.values.asDiagonal();
  return std::max(((A * found.right - found.left * scaled) * over).colwise().norm().maxCoeff(),
                  ((A.transpose() * found.left - found.right * scaled) * over).colwise().norm().maxCoeff());
}

TEST(TruncatedSvd, IsAsExactAsItIsAskedToBe) {
  // A flat spectrum, which takes several restarts, and one with a gap, which takes none.
  Vector gap = Vector::Constant(150, 0.1);
  gap.head(12).setLinSpaced(9, 4);
  for (const Matrix& A : {gaussian(900, 700, 5), with_singular_values(300, 400, gap, 6)})
    for (const double tolerance : {1e-4, 1e-8, 1e-11, 1e-14}) {
      const auto found = truncated_svd(*data_matrix(A), 6, {}, tolerance);
      ASSERT_EQ(found.values.size(), 6);
      EXPECT_TRUE(found.converged);
      EXPECT_LT(largest_residual(found, A), std::max(tolerance, 1e-13));
    }
}

TEST(TruncatedSvd, LooksForConvergenceBetweenRestartsToo) {
  // A restart every 35 products or so: who looks only there goes on until the next one.
  const Matrix A = gaussian(900, 700, 5);
  int products = 0;
  const auto watch = [&](int count, const Vector&) {
    products = count;
    return true;
  };
  truncated_svd(*data_matrix(A), 6, watch, 1e-4);
  const int rough = products;
  truncated_svd(*data_matrix(A), 6, watch, 1e-8);
  EXPECT_LT(rough, products);
  const int usual = products;
  truncated_svd(*data_matrix(A), 6, watch, 1e-9);
  EXPECT_LT(products - usual, 12);
}

TEST(TruncatedSvd, OfNearlyHalfOfAllValuesIsTheDenseOne) {
  for (const Index size : {65, 71, 72, 80, 97}) {
    const Matrix A = gaussian(size + 40, size, std::uint64_t(size));
    const Index count = (size - 1) / 2;
    const auto found = truncated_svd(*data_matrix(A), count);
    ASSERT_EQ(found.values.size(), count);
    EXPECT_LT(max_difference(found.values, singular_values(A).head(count)), 1e-11 * found.values[0]);
    expect_singular_triplets(found, A, 1e-8);
  }
}

TEST(TruncatedSvd, AsksForMoreThanThereIs) {
  const Matrix A = gaussian(12, 30, 1);
  EXPECT_EQ(truncated_svd(*data_matrix(A), 500).values.size(), 12);
}

TEST(TruncatedSvd, StopsAtTheRankOfTheMatrix) {
  for (const auto& [n, m] : {std::pair<Index, Index>{150, 100}, {100, 150}, {20, 10}}) {
    const Matrix A = gaussian(n, 3, 1) * gaussian(m, 3, 2).transpose();
    const SparseMatrix S = to_sparse(A);
    for (const auto& op : {data_matrix(A), data_matrix(S)}) {
      const auto found = truncated_svd(*op, 8);
      ASSERT_EQ(found.values.size(), 3) << n << " x " << m;
      EXPECT_LT((A - found.left * found.values.asDiagonal() * found.right.transpose()).norm(),
                1e-10 * A.norm());
    }
  }
}

TEST(TruncatedSvd, FindsRepeatedSingularValues) {
  // A random vector is an eigenvector of these Gram matrices, where a Krylov space ends before it begins.
  for (const Matrix& A : {Matrix(Matrix::Identity(100, 100)), Matrix(7.7 * Matrix::Identity(80, 80)),
                          Matrix(0.3 * random_orthonormal(150, 128, 1))}) {
    const auto found = truncated_svd(*data_matrix(A), 5);
    ASSERT_EQ(found.values.size(), 5);
    EXPECT_LT(max_difference(found.values, Vector::Constant(5, A.col(0).norm())), 1e-10);
    expect_singular_triplets(found, A, 1e-9);
  }

  const Vector values = (Vector(8) << 3, 3, 3, 2, 2, 1, 1, 1).finished();
  const Matrix A = with_singular_values(120, 80, values, 1);
  const auto found = truncated_svd(*data_matrix(A), 6);
  ASSERT_EQ(found.values.size(), 6);
  EXPECT_LT(max_difference(found.values, values.head(6)), 1e-10);
  expect_singular_triplets(found, A, 1e-8);
}

TEST(TruncatedSvd, FindsMoreRepetitionsThanABlockHolds) {
  Vector values = Vector::Ones(100);
  values.head(20).setConstant(2);
  for (const Matrix& A : {Matrix(Matrix::Identity(100, 100)), with_singular_values(130, 100, values, 1)}) {
    const auto found = truncated_svd(*data_matrix(A), 15);
    ASSERT_EQ(found.values.size(), 15);
    EXPECT_LT(max_difference(found.values, Vector::Constant(15, A.isIdentity() ? 1 : 2)), 1e-9);
    expect_singular_triplets(found, A, 1e-8);
  }
}

TEST(TruncatedSvd, KeepsSmallSingularValues) {
  // Squares of these span twenty orders of magnitude, more than a Gram matrix can hold.
  const Vector values = (Vector(5) << 1, 1e-3, 1e-5, 1e-8, 1e-10).finished();
  const Matrix A = with_singular_values(60, 40, values, 3);
  const auto found = truncated_svd(*data_matrix(A), 5);
  ASSERT_EQ(found.values.size(), 5);
  EXPECT_LT((found.values - values).cwiseQuotient(values).cwiseAbs().maxCoeff(), 1e-4);
}

/// Values of the matrix as it is stored, to all digits.
Vector exact_singular_values(const Matrix& A) {
  return thin_svd(A).values;
}

/// Each value relative to itself, and A^T u = s v: up to the rounding errors that the largest value stands
/// for.
void expect_accurate(const SingularTriplets& found, const Matrix& A, Index count) {
  const Vector expected = exact_singular_values(A);
  ASSERT_EQ(found.values.size(), count);
  EXPECT_TRUE(found.converged);
  for (Index i = 0; i < count; ++i) {
    const double allowed = std::max(1e-10, 1e-15 * expected[0] / expected[i]);
    EXPECT_NEAR(found.values[i] / expected[i], 1, allowed) << "value " << i;
    const Vector back = A.transpose() * found.left.col(i) / found.values[i];
    EXPECT_LT((back - found.right.col(i)).norm(), 2e-8 + 100 * allowed) << "vectors " << i;
  }
  EXPECT_LT(max_difference(found.right.transpose() * found.right, Matrix::Identity(count, count)), 1e-12);
}

TEST(TruncatedSvd, IsAccurateWhereOneValueDominates) {
  // A common offset: Lanczos on A^T A alone had values 2 to 5 three per cent low at 1000, and none at 1e6.
  for (const double offset : {30.0, 300.0, 1e3, 1e6}) {
    const Matrix A = gaussian(400, 150, 1).array() + offset;
    const Matrix wide = A.transpose();
    SCOPED_TRACE(offset);
    expect_accurate(truncated_svd(*data_matrix(A), 5), A, 5);
    expect_accurate(truncated_svd(*data_matrix(wide), 5), wide, 5);
    const SparseMatrix S = to_sparse(A);
    expect_accurate(truncated_svd(*data_matrix(S), 5), A, 5);
  }
}

TEST(TruncatedSvd, IsAccurateOverEightOrdersOfMagnitude) {
  for (const double decades : {2.0, 4.0, 6.0, 8.0}) {
    Vector values(150);
    for (Index i = 0; i < 20; ++i) values[i] = std::pow(10.0, -decades * double(i) / 19);
    values.tail(130).setLinSpaced(0.9 * values[19], 0.1 * values[19]);
    const Matrix A = with_singular_values(300, 150, values, 3);
    SCOPED_TRACE(decades);
    expect_accurate(truncated_svd(*data_matrix(A), 20), A, 20);
  }
}

TEST(TruncatedSvd, OfATallMatrixKeepsItsDigitsForAnyNumberOfThreads) {
  const Index n = 6000, p = 90, count = 15;
  const Matrix left = orthonormal_basis(gaussian(n, p, 1)), right = orthonormal_basis(gaussian(p, p, 2));
  for (const double ratio : {1.0, 0.9, 0.3}) {  // repeated values; fifteen of them over seven orders
    Vector values(p);
    for (Index i = 0; i < p; ++i) values[i] = std::pow(ratio, double(i / 3 * 3));
    const Matrix A = left * values.asDiagonal() * right.transpose();
    const SingularTriplets one = truncated_svd(*data_matrix(A, 1), count, {});
    ASSERT_EQ(one.values.size(), count);
    for (Index i = 0; i < count; ++i) EXPECT_NEAR(one.values[i], values[i], 1e-14) << ratio << ", " << i;
    const Matrix identity = Matrix::Identity(count, count);
    EXPECT_LT(max_difference(Matrix(one.left.transpose() * one.left), identity), 1e-13);
    EXPECT_LT(max_difference(Matrix(one.right.transpose() * one.right), identity), 1e-13);
    EXPECT_LT(max_difference(A * one.right, one.left * one.values.asDiagonal()), 1e-13);
    for (const int threads : {2, 3, 16})
      EXPECT_TRUE(same_bits(one.left, truncated_svd(*data_matrix(A, threads), count, {}).left)) << threads;
  }
}

TEST(TruncatedSvd, KeepsWhatItHasWhenStopped) {
  const Matrix A = gaussian(300, 200, 1);
  int calls = 0;
  const auto found = truncated_svd(*data_matrix(A), 6, [&](int products, const Vector&) {
    EXPECT_EQ(products, ++calls);
    return products < 3;
  });
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(found.converged);
  ASSERT_EQ(found.values.size(), 6);
  EXPECT_LT(max_difference(A * found.right, found.left * found.values.asDiagonal()), 1e-10 * A.norm());
  EXPECT_LT(max_difference(found.left.transpose() * found.left, Matrix::Identity(6, 6)), 1e-12);
  EXPECT_LE(found.values[0], exact_singular_values(A)[0] * (1 + 1e-12));
}

TEST(TruncatedSvd, OfSinglePrecisionEnds) {
  const Eigen::MatrixXf A = (gaussian(400, 150, 1).array() + 10).matrix().cast<float>();
  int products = 0;
  const auto found = truncated_svd(*data_matrix(A), 5, [&](int done, const Vector&) {
    products = done;
    return true;
  });
  const Vector expected = exact_singular_values(A.cast<double>());
  ASSERT_EQ(found.values.size(), 5);
  EXPECT_LT(products, 100);
  EXPECT_LT((found.values - expected.head(5)).cwiseQuotient(expected.head(5)).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(BlockLanczos, KeepsItsBasisOrthogonalThroughRestarts) {
  // A flat spectrum, which takes several restarts, and leading values that converge long before the others:
  // what has converged is what comes back into a basis that is not looked at.
  constexpr Index kSize = 1500, kCount = 12;
  for (const double lead : {1.0, 30.0}) {
    Vector values(kSize);
    for (Index i = 0; i < kSize; ++i)
      values[i] = (i < 4 ? lead : 1.0) * (1 - 0.4 * double(i) / double(kSize));
    const Axis axis(kSize);
    Random random(3);
    const Matrix mirror =
        axis.gaussian(1, random).normalized();  // a Householder reflection mixes all entries
    const auto reflect = [&](const Matrix& X) -> Matrix { return X - 2 * mirror * (mirror.transpose() * X); };
    int products = 0;
    const LanczosPairs found =
        block_lanczos(axis,
                      [&](const Panel& X, Panel& Y) {
                        ++products;
                        Y = reflect(values.asDiagonal() * reflect(X));
                      },
                      {.count = kCount, .positive_only = true, .product_rounding = 2e-16});
    const Matrix& V = found.pairs.vectors;
    EXPECT_GT(products, 60);  // there were restarts
    EXPECT_EQ(found.converged, kCount);
    EXPECT_LT(max_difference(V.transpose() * V, Matrix::Identity(kCount, kCount)), 1e-9);
    EXPECT_LT(max_difference(found.pairs.values, values.head(kCount)), 1e-12 * lead);
    const Matrix rest = reflect(values.asDiagonal() * reflect(V)) - V * found.pairs.values.asDiagonal();
    for (Index k = 0; k < kCount; ++k) EXPECT_LT(rest.col(k).norm(), 1.1e-8 * values[k]) << k;
  }
}

TEST(TruncatedSvd, OfZeroIsEmpty) {
  for (const Index n : {10, 100}) {
    const Matrix zero = Matrix::Zero(n, n + 3);
    EXPECT_EQ(truncated_svd(*data_matrix(zero), 2).values.size(), 0) << n;
  }
}

TEST(LeadingEigenpairs, AreThoseOfLargestMagnitude) {
  for (const Index n : {20, 150}) {
    const Matrix A = gaussian(n, n, 1), C = A + A.transpose();
    Vector expected = symmetric_eigen(C).values;
    std::sort(expected.begin(), expected.end(), [](double a, double b) { return std::abs(a) > std::abs(b); });
    const auto found = leading_eigenpairs(*data_matrix(C), 6, false);
    ASSERT_EQ(found.values.size(), 6);
    EXPECT_LT(max_difference(found.values, expected.head(6)), 1e-9 * C.norm());
    EXPECT_LT(found.values.minCoeff(), 0) << "both signs are among the leading ones of this matrix";
    EXPECT_LT(max_difference(C * found.vectors, found.vectors * found.values.asDiagonal()), 1e-7 * C.norm());
  }
}

TEST(LeadingEigenpairs, ArePositiveWhereAsked) {
  const Vector values = (Vector(6) << -9, 5, -4, 3, 1, -0.5).finished();
  for (const Index n : {6, 120}) {
    const Matrix C = with_eigenvalues(values, n, 5);
    const auto found = leading_eigenpairs(*data_matrix(C), 5, true);
    ASSERT_EQ(found.values.size(), 3) << n;
    EXPECT_LT(max_difference(found.values, (Vector(3) << 5, 3, 1).finished()), 1e-9);
    EXPECT_EQ(leading_eigenpairs(*data_matrix(Matrix(-C)), 1, true).values.size(), 1);
  }
  const Matrix negative = -Matrix::Identity(100, 100);
  EXPECT_EQ(leading_eigenpairs(*data_matrix(negative), 3, true).values.size(), 0);
}

TEST(LeadingEigenpairs, FindRepeatedEigenvaluesOfBothSigns) {
  const Vector values = (Vector(6) << 2, 2, 2, -2, -2, 1).finished();
  const Matrix C = with_eigenvalues(values, 110, 7);
  const auto found = leading_eigenpairs(*data_matrix(C), 5, false);
  ASSERT_EQ(found.values.size(), 5);
  EXPECT_LT(max_difference(found.values.cwiseAbs(), Vector::Constant(5, 2)), 1e-9);
  EXPECT_NEAR(found.values.sum(), 2, 1e-9) << "three positive, two negative";
}

TEST(LeadingEigenpairs, AreAccurateOverEightOrdersOfMagnitude) {
  const Vector values = (Vector(8) << 1, -1e-1, 1e-2, 1e-4, -1e-5, 1e-6, 1e-7, -1e-8).finished();
  const Matrix C = with_eigenvalues(values, 120, 5);
  const auto found = leading_eigenpairs(*data_matrix(C), 8, false);
  ASSERT_EQ(found.values.size(), 8);
  EXPECT_LT((found.values - values).cwiseQuotient(values).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((found.values - values).head(5).cwiseQuotient(values.head(5)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(RandomizedSvd, FindsTheLeadingDirections) {
  const Vector values = (Vector(10) << 100, 80, 60, 40, 1, 1, 0.5, 0.5, 0.2, 0.1).finished();
  for (const auto& [n, m] : {std::pair<Index, Index>{200, 50}, {50, 200}}) {
    const Matrix A = with_singular_values(n, m, values, 1);
    Random random(3);
    const auto found = randomized_svd(*data_matrix(A), 4, 1, random);
    ASSERT_EQ(found.values.size(), 4);
    EXPECT_LT(max_difference(found.values, values.head(4)), 1e-3);
    const double missed = (A - found.left * found.values.asDiagonal() * found.right.transpose()).norm();
    EXPECT_LT(missed, 1.01 * values.tail(6).norm()) << "1 % above the best of rank 4";
    EXPECT_LT(max_difference(found.left.transpose() * found.left, Matrix::Identity(4, 4)), 1e-12);
    EXPECT_LT(max_difference(found.right.transpose() * found.right, Matrix::Identity(4, 4)), 1e-12);
  }
}

TEST(RandomizedSvd, DependsOnItsRandomNumbersAlone) {
  const Matrix A = gaussian(80, 60, 1);
  Random first(3), second(3);
  const auto one = randomized_svd(*data_matrix(A, 1), 5, 1, first),
             two = randomized_svd(*data_matrix(A, 2), 5, 1, second);
  EXPECT_TRUE(same_bits(one.left, two.left));
  EXPECT_TRUE(same_bits(one.right, two.right));
}

TEST(RandomizedSvd, TakesSmallAndRankDeficientMatrices) {
  Random random(1);
  const Matrix number = Matrix::Constant(1, 1, -3.0);
  EXPECT_NEAR(randomized_svd(*data_matrix(number), 4, 1, random).values[0], 3, 1e-14);
  const Matrix thin = gaussian(30, 1, 1) * gaussian(20, 1, 2).transpose();
  const auto found = randomized_svd(*data_matrix(thin), 3, 1, random);
  EXPECT_TRUE(found.left.allFinite() && found.right.allFinite());
  EXPECT_NEAR(found.values[0], thin.norm(), 1e-12 * thin.norm());
  EXPECT_LT(found.values[1], 1e-6 * thin.norm()) << "half the digits of a double are enough for starts";
}

}  // namespace
}  // namespace pursuit
