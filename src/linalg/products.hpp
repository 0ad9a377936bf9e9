#pragma once
// Dense products of our own, for the shapes there are: a large matrix, read where it lies and as it lies,
// times a panel of few columns. The same bits for any number of threads, whatever BLAS there is.

#include "base/kernel.hpp"
#include "pursuit/linalg/views.hpp"

namespace pursuit {

/// out = A V. Single precision data meet a panel in single precision: sums of at most 128 products are, and
/// all sums of these are in double precision.
template <class Scalar>
void multiply(const DenseView<Scalar>& A, const ConstMatrixRef& V, MatrixRef out, int threads = 1,
              KernelLevel level = kernel_level());

/// The same where the result is to be in single precision too.
void multiply(const DenseView<float>& A, const ConstMatrixRef& V, Eigen::Ref<Eigen::MatrixXf> out);

/// A^T B, and out -= A B, for the tall, thin matrices of factors.
Matrix transposed_product(const ConstMatrixRef& A, const ConstMatrixRef& B, int threads = 1);
void subtract_product(const ConstMatrixRef& A, const ConstMatrixRef& B, MatrixRef out, int threads = 1);
Matrix gram_of(const ConstMatrixRef& A, int threads = 1);  // A^T A

}  // namespace pursuit
