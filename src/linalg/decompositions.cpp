#include "linalg/decompositions.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

template <class Decomposition>
void require_success(const Decomposition& decomposition, const char* what) {
  if (decomposition.info() != Eigen::Success)
    throw InvalidInput(std::string(what) +
                       " failed: its numbers are not finite or leave the range of double precision");
}

}  // namespace

SymmetricEigen symmetric_eigen(const ConstMatrixRef& C) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(C);
  require_success(solver, "an eigendecomposition");
  return {solver.eigenvalues(), solver.eigenvectors()};
}

ThinSvd thin_svd(const Matrix& A) {
  if (A.rows() < A.cols()) {
    ThinSvd transposed = thin_svd(A.transpose());
    return {std::move(transposed.right), std::move(transposed.values), std::move(transposed.left)};
  }
  if (A.rows() == A.cols()) {
    if (!A.allFinite()) throw InvalidInput("a singular value decomposition failed: an entry is not finite");
    const Eigen::BDCSVD<Matrix> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
    require_success(svd, "a singular value decomposition");
    return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
  }
  const Eigen::HouseholderQR<Matrix> qr(A);
  const ThinSvd small = thin_svd(qr.matrixQR().topRows(A.cols()).triangularView<Eigen::Upper>());
  Matrix left = Matrix::Zero(A.rows(), A.cols());
  left.topRows(A.cols()) = small.left;
  left.applyOnTheLeft(qr.householderQ());
  return {std::move(left), small.values, small.right};
}

Matrix orthonormal_basis(const Matrix& block) {
  const Eigen::HouseholderQR<Matrix> qr(block);
  return qr.householderQ() * Matrix::Identity(block.rows(), std::min(block.rows(), block.cols()));
}

Matrix independent_basis(const Matrix& A) {
  const Eigen::ColPivHouseholderQR<Matrix> qr(A);
  return qr.householderQ() * Matrix::Identity(A.rows(), qr.rank());
}

Matrix least_squares(const ConstMatrixRef& A, const ConstMatrixRef& B) {
  return A.completeOrthogonalDecomposition().solve(B);
}

Matrix semidefinite_root(const Matrix& C, double* smallest) {
  const Eigen::LLT<Matrix> cholesky(C);
  if (cholesky.info() == Eigen::Success && cholesky.rcond() > 1e-10) return cholesky.matrixU();
  const SymmetricEigen eigen = symmetric_eigen(C);
  if (smallest) *smallest = eigen.values[0] / std::max(eigen.values.lpNorm<Eigen::Infinity>(), 1e-300);
  return eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
}

}  // namespace pursuit
