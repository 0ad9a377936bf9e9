#pragma once
// Dense products of our own, for the shapes there are: a large matrix, read where it lies and as it lies,
// times a panel of few columns. The same bits for any number of threads, whatever BLAS there is.

#include <cstdint>
#include <type_traits>

#include "base/kernel.hpp"
#include "pursuit/linalg/views.hpp"

namespace pursuit {

/// Applies a macro to every type of whole numbers that a matrix may be stored in.
#define PURSUIT_FOR_WHOLE_NUMBERS(apply)                                                              \
  apply(std::int8_t) apply(std::uint8_t) apply(std::int16_t) apply(std::uint16_t) apply(std::int32_t) \
      apply(std::uint32_t) apply(std::int64_t) apply(std::uint64_t)

/// What a stored number is multiplied as.
template <class Stored>
using Multiplied = std::conditional_t<std::is_integral_v<Stored>, double, Stored>;

/// out = A V. Single precision data meet a panel in single precision: sums of at most 128 products are, and
/// all sums of these are in double precision. Whole numbers become doubles as they are met, a tile that stays
/// in cache at a time: the bits are those of a matrix of doubles.
template <class Stored>
void multiply(const DenseView<Stored>& A, const ConstMatrixRef& V, MatrixRef out, int threads = 1,
              KernelLevel level = kernel_level());

/// The same where the result is to be in single precision too.
void multiply(const DenseView<float>& A, const ConstMatrixRef& V, Eigen::Ref<Eigen::MatrixXf> out);

/// A^T B, and out -= A B, for the tall, thin matrices of factors.
Matrix transposed_product(const ConstMatrixRef& A, const ConstMatrixRef& B, int threads = 1);
void subtract_product(const ConstMatrixRef& A, const ConstMatrixRef& B, MatrixRef out, int threads = 1);
Matrix gram_of(const ConstMatrixRef& A, int threads = 1);  // A^T A

}  // namespace pursuit
