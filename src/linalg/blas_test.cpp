#include "linalg/blas.hpp"

#include <cblas.h>

#include <memory>

#include "test_support.hpp"

namespace pursuit {
namespace {

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
