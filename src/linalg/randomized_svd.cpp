#include "linalg/randomized_svd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/decompositions.hpp"
#include "pursuit/linalg/axis.hpp"

namespace pursuit {

SingularTriplets randomized_svd(const LinearOperator& A, Index count, int power_iterations, Random& random) {
  constexpr Index kOversampling = 8;
  const Index width = std::min({count + kOversampling, A.rows(), A.cols()});
  const Axis rows(A.rows(), A.threads()), cols(A.cols(), A.threads());
  Panel image, basis, projected;
  A.apply(cols.gaussian(width, random), image);
  for (int i = 0; i < power_iterations; ++i) {
    A.apply_transposed(rows.orthonormal(image), projected);
    const double size = std::sqrt(cols.dots(projected, projected).sum());
    A.apply(projected / std::max(size, std::numeric_limits<double>::min()), image);  // no powers of ||A||
  }
  basis = rows.orthonormal(image);
  A.apply_transposed(basis, projected);  // A ~ basis * projected^T
  // The SVD of `projected` through its small Gram matrix: half the digits, which starts do not miss.
  const SymmetricEigen eigen = symmetric_eigen(cols.inner(projected, projected));
  const Index kept = std::min(count, width);
  const Matrix directions = eigen.vectors.rightCols(kept).rowwise().reverse();
  const Vector values = eigen.values.tail(kept).reverse().cwiseMax(0.0).cwiseSqrt();
  Panel right = cols.combined(projected, directions);
  for (Index i = 0; i < kept; ++i)
    if (values[i] > 0) right.col(i) /= values[i];
  return {rows.combined(basis, directions), right, values};
}

}  // namespace pursuit
