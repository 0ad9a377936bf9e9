#include "pursuit/algorithms/coherence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "linalg/decompositions.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

/// Unit vectors at small angles to an orthonormal basis: mu(N-1) < 1 by construction.
Matrix nearly_orthogonal(Index d, Index N, double tilt, std::uint64_t seed) {
  Random random(seed);
  Matrix D = orthonormal_basis(random.gaussian_matrix(d, d)).leftCols(N);
  D += tilt * random.gaussian_matrix(d, N);
  D.colwise().normalize();
  return D;
}

TEST(CumulativeCoherence, MatchesItsDefinitionByEnumeration) {
  Random random(3);
  Matrix D = random.gaussian_matrix(6, 5);
  D.colwise().normalize();
  const Vector mu = cumulative_coherence(D);
  const Matrix G = (D.transpose() * D).cwiseAbs();
  ASSERT_EQ(mu.size(), 5);
  for (int m = 0; m < 5; ++m) {
    double expected = 0;
    for (unsigned set = 0; set < 32; ++set) {
      if (__builtin_popcount(set) != m) continue;
      for (int k = 0; k < 5; ++k) {
        if (set >> k & 1U) continue;
        double sum = 0;
        for (int i = 0; i < 5; ++i)
          if (set >> i & 1U) sum += G(k, i);
        expected = std::max(expected, sum);
      }
    }
    EXPECT_NEAR(mu[m], expected, 1e-12) << "m = " << m;
  }
}

TEST(CumulativeCoherence, GrowsAtMostLinearly) {  // mu(m) <= m mu(1)
  const Vector mu = cumulative_coherence(nearly_orthogonal(20, 12, 0.05, 1));
  for (Index m = 1; m < mu.size(); ++m) {
    EXPECT_LE(mu[m], double(m) * mu[1] + 1e-12);
    EXPECT_GE(mu[m], mu[m - 1]);
  }
}

TEST(CumulativeCoherence, ZeroColumnsDoNotMatter) {
  const Matrix D = nearly_orthogonal(10, 4, 0.1, 7);
  Matrix padded = Matrix::Zero(10, 5);
  padded << D.leftCols(2), Vector::Zero(10), D.rightCols(2);
  const Vector mu = cumulative_coherence(D), with_zero = cumulative_coherence(padded);
  EXPECT_LT((with_zero.head(4) - mu).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(with_zero[4], with_zero[3]);
}

TEST(CoherenceRate, SaysNothingForCoherentDictionaries) {
  Random random(5);
  EXPECT_FALSE(coherence_rate(cumulative_coherence(random.gaussian_matrix(4, 12)), 12).has_value());
}

class CoherenceTheorem : public testing::TestWithParam<double> {};  // parameter: accuracy delta of the oracle

TEST_P(CoherenceTheorem, DecayIsWithinTheBoundForTargetsOutsideTheSpan) {
  const double delta = GetParam();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix D = nearly_orthogonal(30, 12, 0.01, seed);
    ASSERT_LT(cumulative_coherence(D)[11], 1.0);
    Random random(100 + seed);
    const Vector y = random.gaussian_matrix(30, 1);
    const RateCertificate certificate = certify_omp(D, y, 12, delta);
    EXPECT_TRUE(certificate.holds);
    EXPECT_GT(certificate.distance_to_span, 0.1);
    ASSERT_GE(certificate.steps.size(), 8u);
    for (const auto& step : certificate.steps) {
      ASSERT_TRUE(step.coherence_bound.has_value());
      EXPECT_LT(*step.coherence_bound, 1.0);
      EXPECT_LE(step.guaranteed, *step.coherence_bound + 1e-12);  // Theorem 1's rate is the sharper one
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ExactAndInexactOracles, CoherenceTheorem, testing::Values(1.0, 0.9, 0.5, 0.2));

TEST(CoherenceCorollary, HoldsForTargetsInTheSpanOfFewAtoms) {  // rate with m instead of N
  const Matrix D = nearly_orthogonal(40, 20, 0.008, 2);
  const Vector mu = cumulative_coherence(D);
  const Index m = 6;
  Random random(9);
  Vector y = D.leftCols(m) * random.gaussian_matrix(m, 1);
  const auto rate = coherence_rate(mu, m);
  ASSERT_TRUE(rate.has_value());
  const RateCertificate certificate = certify_omp(D, y, m);
  EXPECT_NEAR(certificate.distance_to_span, 0, 1e-10);
  for (const auto& step : certificate.steps) EXPECT_LE(step.decay, *rate + 1e-9);
}

TEST(Certificate, AWorseOracleIsHeldToAWeakerGuarantee) {
  const Matrix D = nearly_orthogonal(30, 12, 0.01, 4);
  Random random(1);
  const Vector y = random.gaussian_matrix(30, 1);
  const auto exact = certify_omp(D, y, 3, 1.0), inexact = certify_omp(D, y, 3, 0.5);
  EXPECT_LT(exact.steps[0].guaranteed, inexact.steps[0].guaranteed);
  EXPECT_LT(exact.steps[0].decay, inexact.steps[0].decay);
}

TEST(Certificate, NearlyDependentColumnsBreakNoGuarantee) {
  for (int exponent = 3; exponent <= 16; ++exponent)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(seed);
      Matrix D = random.gaussian_matrix(20, 8);
      D.col(1) = D.col(0) + std::pow(10.0, -exponent) * random.gaussian_matrix(20, 1);
      const RateCertificate certificate = certify_omp(D, random.gaussian_matrix(20, 1), 8);
      EXPECT_TRUE(certificate.holds) << "columns 1e-" << exponent << " apart, seed " << seed;
      EXPECT_GE(certificate.steps.size(), 6u);
    }
}

TEST(StepsBelowGuarantee, FindsTheStepThatGainedTooLittle) {
  Trace trace(3);
  for (auto& step : trace) {
    step.lmo_value = 1;
    step.gain = 0.5;
    step.objective = 1;
  }
  EXPECT_TRUE(steps_below_guarantee(trace).empty());
  trace[1].gain = 0.3;
  EXPECT_EQ(steps_below_guarantee(trace), std::vector<Index>{1});
  EXPECT_TRUE(steps_below_guarantee(trace, 2).empty());
}

}  // namespace
}  // namespace pursuit
