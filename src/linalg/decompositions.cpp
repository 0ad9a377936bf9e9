#include "linalg/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <limits>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/cholesky.hpp"
#include "pursuit/base/error.hpp"

// LAPACK, as it comes with OpenBLAS, which declares none of it. Fortran is told the lengths of texts at the
// end.
extern "C" {
void dsyevd_(const char* job, const char* triangle, const int* n, double* A, const int* lda, double* values,
             double* work, const int* work_size, int* iwork, const int* iwork_size, int* info, std::size_t,
             std::size_t);
void dgesdd_(const char* job, const int* m, const int* n, double* A, const int* lda, double* values,
             double* U, const int* ldu, double* Vt, const int* ldvt, double* work, const int* work_size,
             int* iwork, int* info, std::size_t);
void dgesvd_(const char* left, const char* right, const int* m, const int* n, double* A, const int* lda,
             double* values, double* U, const int* ldu, double* Vt, const int* ldvt, double* work,
             const int* work_size, int* info, std::size_t, std::size_t);
void dgeqrf_(const int* m, const int* n, double* A, const int* lda, double* tau, double* work,
             const int* work_size, int* info);
void dgeqp3_(const int* m, const int* n, double* A, const int* lda, int* pivots, double* tau, double* work,
             const int* work_size, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* A, const int* lda, const double* tau,
             double* work, const int* work_size, int* info);
void dgelsy_(const int* m, const int* n, const int* columns, double* A, const int* lda, double* B,
             const int* ldb, int* pivots, const double* rcond, int* rank, double* work, const int* work_size,
             int* info);
}

namespace pursuit {
namespace {

constexpr Index kSmallForEigen =
    64;  // Eigen finds the eigenvectors of smaller matrices in two thirds of the time

[[noreturn]] void fail(const char* what) {
  throw InvalidInput(std::string(what) +
                     " failed: its numbers are not finite or leave the range of double precision");
}

/// Some routines never end on what is not a number, so it does not get there.
void require_finite(const ConstMatrixRef& A, const char* what) {
  if (!A.allFinite()) fail(what);
}

/// `routine(work, size, info)`, after it was asked how much room it wants.
template <class Routine>
int with_room(Routine&& routine) {
  int info = 0, ask = -1;
  double wanted = 1;
  routine(&wanted, &ask, &info);
  std::vector<double> work(std::size_t(std::max(wanted, 1.0)));
  const int size = blas_size(Index(work.size()));
  routine(work.data(), &size, &info);
  return info;
}

/// The first columns of Q, of which A holds the reflections.
Matrix unfolded(Matrix A, const Vector& tau, Index columns) {
  const int m = blas_size(A.rows()), k = blas_size(columns);
  const int info = with_room([&](double* work, const int* size, int* outcome) {
    dorgqr_(&m, &k, &k, A.data(), &m, tau.data(), work, size, outcome);
  });
  if (info != 0) fail("an orthogonal decomposition");
  return A.leftCols(columns);
}

}  // namespace

SymmetricEigen symmetric_eigen(const ConstMatrixRef& C) {
  constexpr const char* kWhat = "an eigendecomposition";
  const Index size = C.rows();
  if (size == 0) return {Vector(0), Matrix(0, 0)};
  for (Index j = 0; j < size; ++j)
    if (!C.col(j).tail(size - j).allFinite()) fail(kWhat);
  if (size <= kSmallForEigen) {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(C);
    if (solver.info() != Eigen::Success) fail(kWhat);
    return {solver.eigenvalues(), solver.eigenvectors()};
  }
  const SingleThreadedBlas single_threaded;
  SymmetricEigen result{Vector(size), C};
  const int n = blas_size(size), iwork_size = 3 + 5 * n;
  std::vector<int> iwork(std::size_t(iwork_size), 0);
  const int info = with_room([&](double* work, const int* work_size, int* outcome) {
    dsyevd_("V", "L", &n, result.vectors.data(), &n, result.values.data(), work, work_size, iwork.data(),
            &iwork_size, outcome, 1, 1);
  });
  if (info != 0) fail(kWhat);
  return result;
}

ThinSvd thin_svd(const ConstMatrixRef& A) {
  constexpr const char* kWhat = "a singular value decomposition";
  if (A.rows() < A.cols()) {
    ThinSvd transposed = thin_svd(Matrix(A.transpose()));
    return {std::move(transposed.right), std::move(transposed.values), std::move(transposed.left)};
  }
  const Index size = A.cols();
  if (size == 0) return {Matrix(A.rows(), 0), Vector(0), Matrix(0, 0)};
  require_finite(A, kWhat);
  const SingleThreadedBlas single_threaded;
  const int m = blas_size(A.rows()), n = blas_size(size);
  Matrix left(A.rows(), size), right_transposed(size, size), copy = A;
  Vector values(size);
  std::vector<int> iwork(std::size_t(8 * n));
  int info = with_room([&](double* work, const int* work_size, int* outcome) {
    dgesdd_("S", &m, &n, copy.data(), &m, values.data(), left.data(), &m, right_transposed.data(), &n, work,
            work_size, iwork.data(), outcome, 1);
  });
  if (info > 0) {  // dividing did not converge: the slower way
    copy = A;
    info = with_room([&](double* work, const int* work_size, int* outcome) {
      dgesvd_("S", "S", &m, &n, copy.data(), &m, values.data(), left.data(), &m, right_transposed.data(), &n,
              work, work_size, outcome, 1, 1);
    });
  }
  if (info != 0) fail(kWhat);
  return {std::move(left), std::move(values), right_transposed.transpose()};
}

Matrix orthonormal_basis(const ConstMatrixRef& block) {
  const Index columns = std::min(block.rows(), block.cols());
  if (columns == 0) return Matrix(block.rows(), columns);
  require_finite(block, "an orthogonal decomposition");
  const SingleThreadedBlas single_threaded;
  Matrix A = block;
  Vector tau(columns);
  const int m = blas_size(A.rows()), n = blas_size(A.cols());
  const int info = with_room([&](double* work, const int* size, int* outcome) {
    dgeqrf_(&m, &n, A.data(), &m, tau.data(), work, size, outcome);
  });
  if (info != 0) fail("an orthogonal decomposition");
  return unfolded(std::move(A), tau, columns);
}

Matrix independent_basis(const ConstMatrixRef& matrix, double tolerance) {
  const Index most = std::min(matrix.rows(), matrix.cols());
  if (most == 0) return Matrix(matrix.rows(), 0);
  require_finite(matrix, "an orthogonal decomposition");
  const SingleThreadedBlas single_threaded;
  Matrix A = matrix;
  Vector tau(most);
  const int m = blas_size(A.rows()), n = blas_size(A.cols());
  std::vector<int> pivots(std::size_t(n), 0);
  const int info = with_room([&](double* work, const int* size, int* outcome) {
    dgeqp3_(&m, &n, A.data(), &m, pivots.data(), tau.data(), work, size, outcome);
  });
  if (info != 0) fail("an orthogonal decomposition");
  const Vector left = A.diagonal().cwiseAbs();  // of every column after those before it, descending
  const double rounding = double(most) * std::numeric_limits<double>::epsilon();
  Index rank = 0;
  while (rank < most && left[rank] > left[0] * (tolerance > 0 ? tolerance : rounding)) ++rank;
  if (rank == 0) return Matrix(matrix.rows(), 0);
  return unfolded(std::move(A), tau, rank);
}

Matrix least_squares(const ConstMatrixRef& A, const ConstMatrixRef& B) {
  constexpr const char* kWhat = "a least-squares solution";
  if (A.size() == 0 || B.cols() == 0) return Matrix::Zero(A.cols(), B.cols());
  require_finite(A, kWhat);
  require_finite(B, kWhat);
  const SingleThreadedBlas single_threaded;
  Matrix copy = A, X = Matrix::Zero(std::max(A.rows(), A.cols()), B.cols());
  X.topRows(B.rows()) = B;
  const int m = blas_size(A.rows()), n = blas_size(A.cols()), columns = blas_size(B.cols()),
            ldx = blas_size(X.rows());
  const double rcond = double(std::min(m, n)) * std::numeric_limits<double>::epsilon();
  std::vector<int> pivots(std::size_t(n), 0);
  int rank = 0;
  const int info = with_room([&](double* work, const int* size, int* outcome) {
    dgelsy_(&m, &n, &columns, copy.data(), &m, X.data(), &ldx, pivots.data(), &rcond, &rank, work, size,
            outcome);
  });
  if (info != 0) fail(kWhat);
  return X.topRows(A.cols());
}

Matrix semidefinite_root(const Matrix& C, double* smallest) {
  const Cholesky cholesky(C);
  if (cholesky.definite() && cholesky.reciprocal_condition() > 1e-10) return cholesky.upper();
  const SymmetricEigen eigen = symmetric_eigen(C);
  if (smallest) *smallest = eigen.values[0] / std::max(eigen.values.lpNorm<Eigen::Infinity>(), 1e-300);
  return eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
}

}  // namespace pursuit
