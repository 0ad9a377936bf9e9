#pragma once
// OpenBLAS, one thread per call: our own threads call it on blocks, because its threading changes the bits.

#include "pursuit/linalg/views.hpp"

namespace pursuit {

/// While alive, OpenBLAS runs on the calling thread only. The previous setting, which belongs to the process,
/// comes back when the last of them is gone: runs may go on side by side, on threads of a user's own.
///
/// Every thread that calls OpenBLAS needs a buffer of it, for which OpenBLAS tries for ever where there is no
/// memory. So they are had before: with little memory fewer threads may call, and with none std::bad_alloc is
/// thrown.
class SingleThreadedBlas {
 public:
  /// `callers` threads are going to call OpenBLAS at once.
  explicit SingleThreadedBlas(int callers = 0);
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

  /// So many of them may.
  int callers() const { return callers_; }

 private:
  int callers_;
};

/// A size as OpenBLAS counts, which may be only to 2^31; InvalidInput beyond.
int blas_size(Index size);

/// out = A V for a column-major V without gaps, where out has its own leading dimension (a block of rows of a
/// larger column-major matrix).
template <class Scalar>
void block_product(const DenseView<Scalar>& A, const Scalar* V, Index columns, Scalar* out, Index out_stride);

/// A^T B, and out -= A B: for the tall, thin matrices of factors, where Eigen built for the baseline is slow.
Matrix transposed_product(const ConstMatrixRef& A, const ConstMatrixRef& B);
void subtract_product(const ConstMatrixRef& A, const ConstMatrixRef& B, MatrixRef out);
inline Matrix gram_of(const ConstMatrixRef& A) {
  return transposed_product(A, A);
}

}  // namespace pursuit
