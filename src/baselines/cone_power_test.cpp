#include "pursuit/baselines/cone_power.hpp"

#include "baselines/test_fixtures.hpp"
#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {
namespace {

TEST(ConePower, IsThePerronVectorOfAPositiveMatrix) {
  const Matrix factor = uniform(12, 20, 1), dense = factor * factor.transpose();
  const auto data = data_matrix(dense);
  const SymmetricEigen eigen = symmetric_eigen(dense);
  for (const double rho : {0.0, 1.0, 30.0}) {
    const Component found = cone_power(Covariance(data), rho, Vector::Unit(12, 3), {.tolerance = 1e-14});
    EXPECT_NEAR(found.variance, eigen.values.maxCoeff(), 1e-8) << rho;
    EXPECT_NEAR(found.u.dot(eigen.vectors.col(11).cwiseAbs()), 1, 1e-7) << rho;
  }
}

TEST(ConePower, FindsTheBestNonnegativeVectorOfASmallMatrix) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix dense = low_rank_covariance(8, 8, seed);
    const auto data = data_matrix(dense);
    const Component found = cone_power(Covariance(data), 0.1, Matrix::Identity(8, 8), {.tolerance = 1e-12});
    EXPECT_NEAR(found.variance, best_over_supports(dense, 8, true), 1e-6) << seed;
    EXPECT_NEAR(found.variance, quadratic_form(dense, found.u), 1e-12);
    EXPECT_TRUE(nonneg()->contains(found.u));
    // A fixed point: the gradient is along u inside the cone and points out of it elsewhere.
    const Vector gradient = dense * found.u - found.variance * found.u;
    for (Index i = 0; i < 8; ++i)
      EXPECT_LT(found.u[i] > 0 ? std::abs(gradient[i]) : gradient[i], 1e-4) << seed;
  }
}

TEST(ConePower, TheShiftSlowsItDown) {
  const Matrix dense = low_rank_covariance(30, 30, 9);
  const auto data = data_matrix(dense);
  const Covariance C(data);
  const auto after = [&](double rho, int steps) {
    return cone_power(C, rho, Vector::Unit(30, 4), {.max_iterations = steps, .tolerance = 0}).variance;
  };
  EXPECT_LT(after(20, 3), after(0, 3));
  for (const double rho : {0.0, 20.0})
    for (int steps = 1; steps < 8; ++steps) EXPECT_GE(after(rho, steps + 1), after(rho, steps) - 1e-12);
  for (const double rho : {-1.0, std::nan("")})
    EXPECT_THAT(message_of<InvalidArgument>([&] { after(rho, 1); }), testing::HasSubstr("rho"));
}

}  // namespace
}  // namespace pursuit
