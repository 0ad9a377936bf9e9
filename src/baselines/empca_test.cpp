#include "pursuit/baselines/empca.hpp"

#include "baselines/test_fixtures.hpp"
#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

/// Expectation maximisation on the data itself, from one start, until nothing moves.
Vector axis_in_data_space(const Matrix& A, Vector w, Index k, bool nonnegative) {
  for (int iteration = 0; iteration < 3000; ++iteration) {
    const Vector z = A * w;                   // E
    w = A.transpose() * z / z.squaredNorm();  // M
    if (nonnegative) w = w.cwiseMax(0.0);
    if (k < w.size()) {
      Vector magnitudes = w.cwiseAbs();
      std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
      w = (w.array().abs() - magnitudes[k]).max(0) * w.array().sign();
    }
    w.normalize();
  }
  return w;
}

TEST(Empca, IsExpectationMaximisationOnTheData) {
  const Matrix A = gaussian(30, 20, 1) * uniform(20, 1, 2).asDiagonal(), dense = A.transpose() * A;
  const auto data = data_matrix(dense);
  const PowerOptions to_the_end{.max_iterations = 3000, .tolerance = 1e-15};
  for (const bool nonnegative : {false, true})
    for (const Index k : {3, 8, 20})
      for (const std::uint64_t seed : {7, 8, 9, 10}) {
        SCOPED_TRACE(testing::Message()
                     << "k = " << k << ", nonnegative " << nonnegative << ", seed " << seed);
        const Component found = empca(Covariance(data), {k, nonnegative, 1, seed, to_the_end});
        Vector start = gaussian(20, 1, seed);
        if (nonnegative) start = start.cwiseAbs();
        const Vector axis = axis_in_data_space(A, start.normalized(), k, nonnegative);
        // Values on the support are found anew: plain power iterations there, cut at zero where asked for.
        const Vector support = (axis.array() != 0).cast<double>();
        Vector refitted = axis;
        for (int iteration = 0; iteration < 3000; ++iteration) {
          refitted = (dense * refitted).cwiseProduct(support);
          if (nonnegative) refitted = refitted.cwiseMax(0.0);
          refitted.normalize();
        }
        // One variable alone is what is returned where it explains more.
        if (quadratic_form(dense, refitted) > dense.diagonal().maxCoeff())
          EXPECT_LT(max_difference(found.u, refitted), 1e-5);
        else
          EXPECT_EQ(found.variance, dense.diagonal().maxCoeff());
        EXPECT_NEAR(found.variance, quadratic_form(dense, found.u), 1e-10);
        EXPECT_GE(found.variance, quadratic_form(dense, axis) * (1 - 1e-12)) << "shrinkage is undone";
      }
}

TEST(Empca, ComesCloseToTheBestSupportsOfPitprops) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  for (const bool nonnegative : {false, true})
    for (const Index k : {3, 5, 8}) {
      const Component found = empca(Covariance(data), {.k = k, .nonnegative = nonnegative});
      const double best = best_over_supports(dense, k, nonnegative);
      EXPECT_LE(found.variance, best * (1 + 1e-12));
      EXPECT_GE(found.variance, 0.85 * best) << k << nonnegative;
      EXPECT_TRUE((nonnegative ? nonneg() + sparse(k) : sparse(k))->contains(found.u));
    }
}

TEST(Empca, MoreRestartsAreNoWorse) {
  const Matrix dense = low_rank_covariance(60, 15, 3);
  const auto data = data_matrix(dense);
  double previous = 0;
  for (const int restarts : {1, 3, 10, 30}) {
    const double value = empca(Covariance(data), {.k = 6, .restarts = restarts}).variance;
    EXPECT_GE(value, previous);
    previous = value;
  }
}

TEST(Empca, GivesAMemberWhereNoDirectionIsBetter) {
  const Matrix identity = Matrix::Identity(6, 6), nothing = Matrix::Zero(6, 6);
  const auto level = data_matrix(identity), empty = data_matrix(nothing);
  for (const bool nonnegative : {false, true})
    for (const auto& data : {level, empty}) {
      const Component found = empca(Covariance(data), {.k = 2, .nonnegative = nonnegative});
      EXPECT_TRUE((nonnegative ? nonneg() + sparse(2) : sparse(2))->contains(found.u));
    }
}

TEST(Empca, BadOptionsAreNamed) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const Covariance C(data);
  EXPECT_THAT(message_of<InvalidArgument>([&] { empca(C, {.k = 14}); }), HasSubstr("1..13"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { empca(C, {.restarts = 0}); }), HasSubstr("restarts 0"));
}

}  // namespace
}  // namespace pursuit
