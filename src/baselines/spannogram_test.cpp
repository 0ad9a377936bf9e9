// The spannogram: exact in one and two dimensions, bounded in all.

#include "pursuit/baselines/spannogram.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "baselines/plane_sweep.hpp"
#include "baselines/test_fixtures.hpp"
#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

/// Sum of squares of the k largest positive entries of V c.
double top_value(const Matrix& V, const Vector& c, Index k) {
  Vector entries = (V * c).cwiseMax(0.0);
  std::sort(entries.begin(), entries.end(), std::greater<>());
  return entries.head(k).squaredNorm();
}

Vector at_angle(double angle) {
  return (Vector(2) << std::cos(angle), std::sin(angle)).finished();
}

RC_GTEST_PROP(PlaneSweep, IsTheBestOverAllSupports, ()) {
  const Index p = *rc::gen::inRange<Index>(1, 10), k = *rc::gen::inRange<Index>(1, p + 1);
  Matrix V = gaussian(p, 2, *rc::gen::inRange<std::uint64_t>(0, 100000));
  if (*rc::gen::arbitrary<bool>()) V = (2 * V).array().round();  // ties, equal rows, waves through one point
  if (V.norm() == 0) return;
  const double best = best_over_supports(V * V.transpose(), k, true);
  RC_ASSERT(std::abs(top_value(V, best_plane_direction(V, k), k) - best) <= 1e-9 * best);
}

TEST(PlaneSweep, IsNoWorseThanAFineGrid) {
  for (const Index k : {1, 5, 40, 200, 399, 400}) {
    const Matrix V = uniform(400, 1, 1).asDiagonal() * gaussian(400, 2, 2);
    const double found = top_value(V, best_plane_direction(V, k), k);
    double grid = 0;
    constexpr int kAngles = 2000;
    for (int i = 0; i < kAngles; ++i)
      grid = std::max(grid, top_value(V, at_angle(2 * std::numbers::pi * i / kAngles), k));
    EXPECT_GE(found, grid * (1 - 1e-12)) << k;
    EXPECT_LE(found, grid * (1 + 1e-3)) << k;
  }
}

TEST(PlaneSweep, StandsManyWavesThatMeetInOnePoint) {
  Matrix V(300, 2);  // on a line off the origin: all waves are equal where c is normal to it
  V << Vector::Ones(300), Vector::LinSpaced(300, -1, 1);
  EXPECT_NEAR(top_value(V, best_plane_direction(V, 7), 7),
              symmetric_eigen(V.bottomRows(7).transpose() * V.bottomRows(7)).values[1], 1e-9);
  const Matrix equal = Matrix::Ones(50, 2), none = Matrix::Zero(50, 2);
  EXPECT_NEAR(top_value(equal, best_plane_direction(equal, 20), 20), 40, 1e-9);
  EXPECT_NEAR(best_plane_direction(none, 20).norm(), 1, 1e-12);
}

TEST(Spannogram, IsExactOnARankTwoCovariance) {
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    for (const Index k : {1, 2, 4, 9}) {
      const Matrix dense = low_rank_covariance(9, 2, seed);
      const auto data = data_matrix(dense);
      const auto result = spannogram(Covariance(data), {.k = k});
      const double best = best_over_supports(dense, k, true);
      EXPECT_NEAR(result.variance, best, 1e-9 * best) << "k = " << k;
      EXPECT_NEAR(result.upper_bound, best, 1e-9 * best) << "and it knows";
      EXPECT_TRUE((nonneg() + sparse(k))->contains(result.u));
    }
}

TEST(Spannogram, BoundsHold) {
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const Index k : {2, 4, 9})
      for (const Index d : {1, 2, 3, 4}) {
        const Matrix dense = low_rank_covariance(9, 9, seed);
        const auto data = data_matrix(dense);
        const auto result = spannogram(Covariance(data), {.k = k, .dimension = d, .samples = 2000});
        const double best = best_over_supports(dense, k, true);
        SCOPED_TRACE(testing::Message() << "k = " << k << ", d = " << d << ", seed " << seed);
        EXPECT_TRUE((nonneg() + sparse(k))->contains(result.u));
        EXPECT_NEAR(quadratic_form(dense, result.u), result.variance, 1e-12);
        EXPECT_LE(result.variance, best * (1 + 1e-12));
        EXPECT_GE(result.upper_bound, best * (1 - 1e-12));
        EXPECT_GE(result.upper_bound, result.variance * (1 - 1e-12));
        EXPECT_GE(result.variance / best, result.a_priori * (d >= 3 ? 0.95 : 1 - 1e-12));
        EXPECT_EQ(result.covering_angle > 0, d >= 3);
      }
}

TEST(Spannogram, SamplesComeAsCloseAsTheyPromise) {
  const Matrix dense = low_rank_covariance(10, 3, 20);
  const auto data = data_matrix(dense);
  const double best = best_over_supports(dense, 4, true);
  for (const Index samples : {20, 200, 2000}) {
    const auto result = spannogram(Covariance(data), {.k = 4, .dimension = 3, .samples = samples});
    EXPECT_GE(result.variance, best * std::pow(std::cos(result.covering_angle), 2)) << samples;
  }
}

TEST(Spannogram, AMonotoneBoundForPitprops) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const double best = best_over_supports(dense, 5, true);
  const auto line = spannogram(Covariance(data), {.k = 5, .dimension = 1}),
             plane = spannogram(Covariance(data), {.k = 5, .dimension = 2});
  EXPECT_GE(line.upper_bound, plane.upper_bound) << "a bound can only gain by a dimension";
  EXPECT_GE(plane.upper_bound, best);
  EXPECT_GE(plane.variance, 0.9 * best);
}

TEST(CoveringAngle, IsThatOfTheClosedForms) {
  const double quantile = 1 - std::pow(0.01, 1.0 / 50);  // P(angle <= theta) for one sample of 50
  EXPECT_NEAR(covering_angle(2, 50, 0.01), std::numbers::pi / 2 * quantile, 2e-4);
  EXPECT_NEAR(covering_angle(3, 50, 0.01), std::acos(1 - quantile), 2e-4);
  EXPECT_LT(covering_angle(3, 5000, 0.01), covering_angle(4, 5000, 0.01));
}

TEST(Spannogram, BadOptionsAreNamed) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const Covariance C(data);
  EXPECT_THAT(message_of<InvalidArgument>([&] { spannogram(C, {.k = 14}); }), HasSubstr("14 non-zeros"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { spannogram(C, {.dimension = 0}); }),
              HasSubstr("dimension 0"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { spannogram(C, {.samples = 0}); }), HasSubstr("samples 0"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { spannogram(C, {.failure = 1}); }), HasSubstr("failure 1"));
}

}  // namespace
}  // namespace pursuit
