#include "linalg/randomized_svd.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

#include "linalg/blas.hpp"

namespace pursuit {

Matrix orthonormal_basis(const Matrix& block) {
  const Eigen::HouseholderQR<Matrix> qr(block);
  return qr.householderQ() * Matrix::Identity(block.rows(), std::min(block.rows(), block.cols()));
}

SingularTriplets randomized_svd(const LinearOperator& A, Index count, int power_iterations, Random& random) {
  constexpr Index kOversampling = 8;
  const Index width = std::min({count + kOversampling, A.rows(), A.cols()});
  Matrix image, basis, projected;
  A.apply(random.gaussian_matrix(A.cols(), width), image);
  for (int i = 0; i < power_iterations; ++i) {
    A.apply_transposed(orthonormal_basis(image), projected);
    A.apply(projected, image);
  }
  basis = orthonormal_basis(image);
  A.apply_transposed(basis, projected);  // A ~ basis * projected^T
  const Eigen::HouseholderQR<Matrix> qr(projected);
  const Matrix R = qr.matrixQR().topRows(width).triangularView<Eigen::Upper>();
  const Eigen::BDCSVD<Matrix> small(R, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Matrix right = Matrix::Zero(A.cols(), std::min(count, width));
  right.topRows(width) = small.matrixU().leftCols(right.cols());
  right.applyOnTheLeft(qr.householderQ());
  return {basis * small.matrixV().leftCols(right.cols()), right, small.singularValues().head(right.cols())};
}

}  // namespace pursuit
