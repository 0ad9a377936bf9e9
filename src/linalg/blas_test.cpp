#include "linalg/blas.hpp"

#include <cblas.h>

#include <memory>

#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(Blas, ProductsOfFactorsAreThoseOfEigen) {
  const Matrix A = gaussian(50, 4, 1), B = gaussian(50, 3, 2), C = gaussian(4, 3, 3);
  EXPECT_LT(max_difference(transposed_product(A, B), A.transpose() * B), 1e-13);
  EXPECT_LT(max_difference(gram_of(A), A.transpose() * A), 1e-13);
  Matrix out = B;
  subtract_product(A, C, out);
  EXPECT_LT(max_difference(out, B - A * C), 1e-13);
}

TEST(Blas, TakesFactorsWithoutAtoms) {
  const Matrix none(50, 0), B = gaussian(50, 3, 2);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(gram_of(none).size(), 0);
  EXPECT_EQ(transposed_product(none, B).rows(), 0);
  EXPECT_EQ(transposed_product(B, none).cols(), 0);
  Matrix out = B;
  subtract_product(none, Matrix(0, 3), out);
  EXPECT_EQ(out, B);
  EXPECT_EQ(testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout(), "")
      << "OpenBLAS complains about a leading dimension of zero";
}

TEST(Blas, RestoresTheThreadsOfOthers) {
  const int before = openblas_get_num_threads();
  {
    const SingleThreadedBlas single_threaded;
    EXPECT_EQ(openblas_get_num_threads(), 1);
  }
  EXPECT_EQ(openblas_get_num_threads(), before);
}

TEST(Blas, StaysSingleThreadedUntilTheLastRunEnds) {
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(2);
  auto first = std::make_unique<SingleThreadedBlas>();
  {
    const SingleThreadedBlas second;
    first.reset();
    EXPECT_EQ(openblas_get_num_threads(), 1);
  }
  EXPECT_EQ(openblas_get_num_threads(), 2);
  openblas_set_num_threads(before);
}

}  // namespace
}  // namespace pursuit
