// Residuals in the way of LAPACK's own tests: divided by what rounding alone may leave, the norm of the data
// times their size times the distance of one from the next number, they are ratios of order one, whatever the
// matrix.

#include <fmt/format.h>

#include "linalg/decompositions.hpp"
#include "linalg/lanczos.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/omp.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "pursuit/weights/nonnegative_least_squares.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

constexpr double kThreshold = 30;  // LAPACK's

double ratio(double residual, double norm, Index size) {
  constexpr double kUnit = std::numeric_limits<double>::epsilon();
  return norm == 0 ? residual : residual / (norm * double(size) * kUnit);
}

double departure_from_orthonormal(const Matrix& Q) {
  return ratio((Q.transpose() * Q - Matrix::Identity(Q.cols(), Q.cols())).norm(), 1,
               std::max(Q.rows(), Q.cols()));
}

Matrix hilbert(Index rows, Index cols) {
  return Matrix::NullaryExpr(rows, cols, [](Index i, Index j) { return 1.0 / double(i + j + 1); });
}

/// Singular values from 1 down to `last`, in even steps of their logarithm.
Matrix graded(Index rows, Index cols, double last, std::uint64_t seed) {
  const Index count = std::min(rows, cols);
  const Matrix U = orthonormal_basis(gaussian(rows, count, seed)),
               V = orthonormal_basis(gaussian(cols, count, seed + 1));
  Vector values(count);
  for (Index k = 0; k < count; ++k)
    values[k] = std::pow(last, double(k) / double(std::max<Index>(1, count - 1)));
  return U * values.asDiagonal() * V.transpose();
}

std::vector<std::pair<std::string, Matrix>> matrices() {
  std::vector<std::pair<std::string, Matrix>> all{
      {"gaussian", gaussian(70, 40, 1)},      {"wide", gaussian(30, 90, 2)},
      {"graded", graded(60, 50, 1e-12, 3)},   {"of rank 5", gaussian(50, 5, 4) * gaussian(5, 40, 5)},
      {"Hilbert's", hilbert(30, 20)},         {"all equal", Matrix::Constant(40, 30, 7)},
      {"one row", gaussian(1, 50, 6)},        {"one column", gaussian(50, 1, 7)},
      {"large", 1e150 * gaussian(40, 30, 8)}, {"small", 1e-150 * gaussian(40, 30, 9)}};
  Matrix huge = gaussian(40, 30, 10);
  huge(7, 3) = 1e9;
  all.emplace_back("with one huge entry", huge);
  return all;
}

/// || A V - U S || and || A^T U - V S ||, both against the norm of A.
void expect_triplets(const Matrix& A, const Matrix& U, const Vector& values, const Matrix& V) {
  const double unit = A.cwiseAbs().maxCoeff();
  const Matrix scaled = A / unit;
  const Vector s = values / unit;
  const Index size = std::max(A.rows(), A.cols());
  EXPECT_LT(ratio((scaled * V - U * s.asDiagonal()).norm(), scaled.norm(), size), kThreshold);
  EXPECT_LT(ratio((scaled.transpose() * U - V * s.asDiagonal()).norm(), scaled.norm(), size), kThreshold);
  EXPECT_LT(departure_from_orthonormal(U), kThreshold);
  EXPECT_LT(departure_from_orthonormal(V), kThreshold);
  for (Index k = 1; k < s.size(); ++k) EXPECT_GE(s[k - 1], s[k]);
}

TEST(Residuals, OfTheThinSvdAreRounding) {
  for (const auto& [what, A] : matrices()) {
    SCOPED_TRACE(what);
    const ThinSvd svd = thin_svd(A);
    expect_triplets(A, svd.left, svd.values, svd.right);
    const double unit = A.cwiseAbs().maxCoeff();
    EXPECT_LT(ratio((A / unit - svd.left * (svd.values / unit).asDiagonal() * svd.right.transpose()).norm(),
                    (A / unit).norm(), std::max(A.rows(), A.cols())),
              kThreshold);
  }
}

TEST(Residuals, OfSymmetricEigenpairsAreRounding) {
  for (const auto& [what, A] : matrices()) {
    SCOPED_TRACE(what);
    const Matrix scaled = A / A.cwiseAbs().maxCoeff(), C = scaled * scaled.transpose();
    const SymmetricEigen eigen = symmetric_eigen(C);
    EXPECT_LT(
        ratio((C * eigen.vectors - eigen.vectors * eigen.values.asDiagonal()).norm(), C.norm(), C.rows()),
        kThreshold);
    EXPECT_LT(departure_from_orthonormal(eigen.vectors), kThreshold);
  }
}

TEST(Residuals, OfFactorizationsByTheExactPathAreRounding) {
  for (const auto& [what, A] : matrices())
    for (const Index wanted : {Index(1), Index(4), A.rows()}) {
      const Index rank = std::min({wanted, A.rows(), A.cols()});
      SCOPED_TRACE(fmt::format("{}, rank {}", what, rank));
      const FactorResult result = factor(A, {.rank = rank, .threads = 1});
      // Values below rounding of the largest are left out, and the last kept may be of that size.
      expect_triplets(A, result.model.left(), result.model.weights, result.model.right());
    }
}

TEST(Residuals, OfLeastSquaresAreOrthogonalToTheColumns) {
  for (const auto& [what, A] : matrices()) {
    SCOPED_TRACE(what);
    const Matrix scaled = A / A.cwiseAbs().maxCoeff(), B = gaussian(A.rows(), 3, 20);
    const Matrix X = least_squares(scaled, B), rest = B - scaled * X;
    const Index size = std::max(A.rows(), A.cols());
    EXPECT_LT(ratio((scaled.transpose() * rest).norm(), scaled.norm() * (B.norm() + scaled.norm() * X.norm()),
                    size),
              kThreshold);
  }
}

TEST(Residuals, OfOmpAreOrthogonalToTheAtomsTaken) {
  for (const auto& [what, A] : matrices()) {
    SCOPED_TRACE(what);
    const Matrix D = A / A.cwiseAbs().maxCoeff(), Y = gaussian(A.rows(), 4, 30);
    const OmpResult result = omp(D, Y, {.atoms = std::min<Index>(5, D.cols()), .threads = 1});
    const Matrix X = result.codes, rest = Y - D * X;
    for (Index j = 0; j < Y.cols(); ++j) {
      Vector along = D.transpose() * rest.col(j);
      for (Index i = 0; i < D.cols(); ++i)
        if (X(i, j) == 0) along[i] = 0;
      // Normal equations: what the columns taken have in common with the rest grows with their condition.
      const double norm = D.norm() * (Y.col(j).norm() + D.norm() * X.col(j).norm());
      EXPECT_LT(ratio(along.norm(), norm, D.rows()), kThreshold) << "signal " << j;
      EXPECT_NEAR(result.relative_errors[j], rest.col(j).norm() / Y.col(j).norm(), 1e-7) << "signal " << j;
    }
  }
}

TEST(Residuals, OfComponentsAreRounding) {
  for (const auto& [what, A] : matrices()) {
    if (A.rows() < 2 || A.minCoeff() == A.maxCoeff()) continue;  // nothing varies
    SCOPED_TRACE(what);
    const PcaResult result = pca(data_matrix(A, 1), {.components = std::min<Index>(3, A.cols())});
    const double unit = A.cwiseAbs().maxCoeff();
    const Matrix centred = (A / unit).rowwise() - (A / unit).colwise().mean();
    EXPECT_LT(departure_from_orthonormal(result.loadings), kThreshold);
    // An invariant subspace of the covariance: C U - U (U^T C U) vanishes.
    const Matrix CU = centred.transpose() * (centred * result.loadings);
    const Matrix off = CU - result.loadings * (result.loadings.transpose() * CU);
    EXPECT_LT(ratio(off.norm(), (A / unit).squaredNorm(), std::max(A.rows(), A.cols())), kThreshold);
    EXPECT_LT((result.scores / unit - centred * result.loadings).norm(), 1e-10 * (1 + (A / unit).norm()));
  }
}

TEST(Residuals, OfNonnegativeWeightsKeepTheConditionsOfTheirProblem) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix D = gaussian(20, 6, seed), G = D.transpose() * D;
    const Vector c = D.transpose() * gaussian(20, 1, seed + 100);
    const Vector x = nonnegative_least_squares(G, c.transpose()).row(0).transpose();
    const Vector gradient = G * x - c;
    const double slack = kThreshold * double(G.rows()) * std::numeric_limits<double>::epsilon() *
                         (G.norm() * x.norm() + c.norm());
    for (Index i = 0; i < x.size(); ++i) {
      EXPECT_GE(x[i], 0);
      EXPECT_GE(gradient[i], -slack);
      if (x[i] > 0) {
        EXPECT_LE(std::abs(gradient[i]), slack);
      }
    }
  }
}

}  // namespace
}  // namespace pursuit
