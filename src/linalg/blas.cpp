#include "linalg/blas.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <limits>
#include <mutex>
#include <type_traits>

#include "pursuit/base/error.hpp"

namespace pursuit {

namespace {

std::mutex setting;
int inside = 0;    // objects alive
int previous = 1;  // threads of OpenBLAS before the first of them

blasint blas_size(Index size) {
  if (size > std::numeric_limits<blasint>::max())
    throw InvalidInput(fmt::format("a dense matrix has {} rows or columns; this BLAS counts to {}", size,
                                   std::numeric_limits<blasint>::max()));
  return blasint(size);
}

}  // namespace

SingleThreadedBlas::SingleThreadedBlas() {
  const std::lock_guard lock(setting);
  if (inside++ > 0) return;
  previous = openblas_get_num_threads();
  if (previous != 1) openblas_set_num_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  const std::lock_guard lock(setting);
  if (--inside == 0 && previous != 1) openblas_set_num_threads(previous);
}

template <class Scalar>
void block_product(const DenseView<Scalar>& A, const Scalar* V, Index columns, Scalar* out,
                   Index out_stride) {
  const auto n = blas_size(A.rows), m = blas_size(A.cols), k = blas_size(columns);
  const auto lda = blas_size(A.stride), ldv = blas_size(A.cols), ldo = blas_size(out_stride);
  const auto op =
      A.row_major ? CblasTrans : CblasNoTrans;  // a row-major matrix is its transpose, column-major
  if (columns == 1) {
    const blasint stored_rows = A.row_major ? m : n, stored_cols = A.row_major ? n : m;
    if constexpr (std::is_same_v<Scalar, double>)
      cblas_dgemv(CblasColMajor, op, stored_rows, stored_cols, 1.0, A.data, lda, V, 1, 0.0, out, 1);
    else
      cblas_sgemv(CblasColMajor, op, stored_rows, stored_cols, 1.0F, A.data, lda, V, 1, 0.0F, out, 1);
  } else {
    if constexpr (std::is_same_v<Scalar, double>)
      cblas_dgemm(CblasColMajor, op, CblasNoTrans, n, k, m, 1.0, A.data, lda, V, ldv, 0.0, out, ldo);
    else
      cblas_sgemm(CblasColMajor, op, CblasNoTrans, n, k, m, 1.0F, A.data, lda, V, ldv, 0.0F, out, ldo);
  }
}

Matrix transposed_product(const ConstMatrixRef& A, const ConstMatrixRef& B) {
  const SingleThreadedBlas single_threaded;
  Matrix result(A.cols(), B.cols());
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, blas_size(A.cols()), blas_size(B.cols()),
              blas_size(A.rows()), 1.0, A.data(), blas_size(A.outerStride()), B.data(),
              blas_size(B.outerStride()), 0.0, result.data(), blas_size(result.rows()));
  return result;
}

void subtract_product(const ConstMatrixRef& A, const ConstMatrixRef& B, MatrixRef out) {
  const SingleThreadedBlas single_threaded;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, blas_size(A.rows()), blas_size(B.cols()),
              blas_size(A.cols()), -1.0, A.data(), blas_size(A.outerStride()), B.data(),
              blas_size(B.outerStride()), 1.0, out.data(), blas_size(out.outerStride()));
}

template void block_product(const DenseView<double>&, const double*, Index, double*, Index);
template void block_product(const DenseView<float>&, const float*, Index, float*, Index);

}  // namespace pursuit
