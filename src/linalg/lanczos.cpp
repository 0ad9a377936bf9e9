#include "linalg/lanczos.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/block_lanczos.hpp"

namespace pursuit {
namespace {

constexpr double kRounding = 1e-13;  // relative to the leading value: below it a direction is noise
constexpr Index kSmall = 64;         // up to this size dense decompositions are as fast, and more accurate

/// Leading eigenpairs of x -> apply(x), of size `size`; dense where Lanczos has no room to be faster.
template <class Apply>
EigenPairs leading(Index size, Index count, bool positive_only, const Apply& apply) {
  count = std::min(count, size);
  EigenPairs result;
  if (2 * count >= size || size <= kSmall) {
    Matrix dense;
    apply(Matrix::Identity(size, size), dense);
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(0.5 * (dense + dense.transpose()));
    result = {solver.eigenvectors(), solver.eigenvalues()};
  } else {
    result = block_lanczos(size, apply, {count, positive_only});
  }
  std::vector<Index> order;
  const double largest = result.values.lpNorm<Eigen::Infinity>();
  for (Index i = 0; i < result.values.size(); ++i)
    if (std::abs(result.values[i]) > kRounding * largest && (!positive_only || result.values[i] > 0))
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return std::abs(result.values[a]) > std::abs(result.values[b]); });
  order.resize(std::min(order.size(), std::size_t(count)));
  return {Matrix(result.vectors(Eigen::all, order)), Vector(result.values(order))};
}

}  // namespace

EigenPairs leading_eigenpairs(const LinearOperator& A, Index count, bool positive_only) {
  return leading(A.rows(), count, positive_only, [&](const Matrix& x, Matrix& y) { A.apply(x, y); });
}

SingularTriplets truncated_svd(const LinearOperator& A, Index count) {
  const Index shorter = std::min(A.rows(), A.cols());
  count = std::min(count, shorter);
  const bool wide = A.cols() > A.rows();
  const auto gram = [&](const Matrix& x, Matrix& y) {
    if (!wide) return A.apply_gram(x, y);
    Matrix middle;
    A.apply_transposed(x, middle);
    A.apply(middle, y);
  };
  Matrix basis, image;  // orthonormal on the shorter side, and its image on the longer one
  if (2 * count >= shorter || shorter <= kSmall)
    basis = Matrix::Identity(shorter, shorter);  // everything: no Lanczos, no squaring
  else
    basis = leading(shorter, count, true, gram).vectors;
  if (basis.cols() == 0) return {Matrix(A.rows(), 0), Matrix(A.cols(), 0), Vector(0)};
  if (wide)
    A.apply_transposed(basis, image);
  else
    A.apply(basis, image);

  const Eigen::HouseholderQR<Matrix> qr(image);
  const Matrix R = qr.matrixQR().topRows(image.cols()).triangularView<Eigen::Upper>();
  const Eigen::BDCSVD<Matrix> small(R, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Index kept = 0;
  while (kept < count && small.singularValues()[kept] > kRounding * small.singularValues()[0]) ++kept;
  Matrix longer = Matrix::Zero(image.rows(), kept);
  longer.topRows(image.cols()) = small.matrixU().leftCols(kept);
  longer.applyOnTheLeft(qr.householderQ());
  const Matrix shorter_side = basis * small.matrixV().leftCols(kept);
  return {wide ? shorter_side : longer, wide ? longer : shorter_side, small.singularValues().head(kept)};
}

}  // namespace pursuit
