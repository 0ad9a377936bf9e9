#include "linalg/randomized_svd.hpp"

#include <algorithm>
#include <limits>

#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"

namespace pursuit {

SingularTriplets randomized_svd(const LinearOperator& A, Index count, int power_iterations, Random& random) {
  constexpr Index kOversampling = 8;
  const Index width = std::min({count + kOversampling, A.rows(), A.cols()});
  Matrix image, basis, projected;
  A.apply(random.gaussian_matrix(A.cols(), width), image);
  for (int i = 0; i < power_iterations; ++i) {
    A.apply_transposed(orthonormal_basis(image), projected);
    A.apply(projected / std::max(projected.norm(), std::numeric_limits<double>::min()),
            image);  // no powers of ||A||
  }
  basis = orthonormal_basis(image);
  A.apply_transposed(basis, projected);  // A ~ basis * projected^T
  // The SVD of `projected` through its small Gram matrix: half the digits, which starts do not miss.
  const SymmetricEigen eigen = symmetric_eigen(gram_of(projected));
  const Index kept = std::min(count, width);
  const Matrix directions = eigen.vectors.rightCols(kept).rowwise().reverse();
  const Vector values = eigen.values.tail(kept).reverse().cwiseMax(0.0).cwiseSqrt();
  Matrix right = projected * directions;
  for (Index i = 0; i < kept; ++i)
    if (values[i] > 0) right.col(i) /= values[i];
  return {basis * directions, right, values};
}

}  // namespace pursuit
