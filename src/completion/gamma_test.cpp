#include "completion/gamma.hpp"

#include "completion/test_support.hpp"

namespace pursuit {
namespace {

constexpr int kGammaDraws = 40000;

struct SampleMoments {
  double mean = 0, variance = 0, smallest = std::numeric_limits<double>::infinity();
};

template <class Draw>
SampleMoments moments_of(const Draw& draw) {
  SampleMoments result;
  double squares = 0;
  for (int d = 0; d < kGammaDraws; ++d) {
    const double x = draw();
    result.mean += x / kGammaDraws;
    squares += x * x / kGammaDraws;
    result.smallest = std::min(result.smallest, x);
  }
  result.variance = squares - result.mean * result.mean;
  return result;
}

TEST(Gamma, DrawsHaveTheirMoments) {
  for (const double shape : {0.5, 1.0, 3.0, 50.0}) {
    Random random(std::uint64_t(10 * shape));
    const SampleMoments got = moments_of([&] { return draw_gamma(shape, random); });
    // Mean and variance are both the shape; the fourth central moment is 3 shape^2 + 6 shape.
    EXPECT_NEAR(got.mean, shape, 4.5 * std::sqrt(shape / kGammaDraws)) << shape;
    EXPECT_NEAR(got.variance, shape, 4.5 * std::sqrt((2 * shape * shape + 6 * shape) / kGammaDraws)) << shape;
    EXPECT_GT(got.smallest, 0) << shape;
  }
}

TEST(Gamma, OfShapeOneIsExponential) {
  Random random(1);
  int above = 0;
  for (int d = 0; d < kGammaDraws; ++d) above += draw_gamma(1, random) > 2;
  const double share = std::exp(-2.0);
  EXPECT_NEAR(double(above) / kGammaDraws, share, 4.5 * std::sqrt(share * (1 - share) / kGammaDraws));
}

TEST(DrawVariance, SurroundsTheVarianceOfTheNumbers) {
  Random random(2);
  constexpr double kSquares = 300, kCount = 100;
  // Inverse gamma of shape a = 1 + count / 2 and scale b = squares / 2: mean b / (a - 1), variance mean^2 /
  // (a - 2).
  constexpr double kMean = kSquares / kCount;
  const SampleMoments got = moments_of([&] { return draw_variance(kSquares, kCount, random); });
  const double variance = kMean * kMean / (kCount / 2 - 1);
  EXPECT_NEAR(got.mean, kMean, 4.5 * std::sqrt(variance / kGammaDraws) + 1e-5);
  EXPECT_NEAR(got.variance, variance, 0.1 * variance);
}

TEST(DrawVariance, OfNothingIsPositiveAndFinite) {
  Random random(3);
  for (int d = 0; d < 1000; ++d) {
    const double v = draw_variance(0, 0, random);
    ASSERT_TRUE(v > 0 && std::isfinite(v)) << v;
  }
}

TEST(DrawGamma, RefusesAShapeThatItWouldNeverEndFor) {
  Random random(4);
  for (const double shape : {std::nan(""), 0.0, -1.0, double(INFINITY), -double(INFINITY)}) {
    EXPECT_THROW(draw_gamma(shape, random), InvalidArgument) << shape;
    EXPECT_THROW(digamma(shape), InvalidArgument) << shape;
  }
}

TEST(Digamma, HasItsKnownValues) {
  EXPECT_NEAR(digamma(1), -0.5772156649, 1e-8);
  EXPECT_NEAR(digamma(0.5), -1.9635100260, 1e-8);
  EXPECT_NEAR(digamma(10), 2.2517525891, 1e-8);
}

TEST(Digamma, RisesByTheInverseFromOneToTheNext) {
  for (const double x : {0.01, 0.3, 1.7, 5.5, 5.999, 6.0, 40.0, 1e4})
    EXPECT_NEAR(digamma(x + 1), digamma(x) + 1 / x, 1e-8 * (1 + 1 / x)) << x;
}

TEST(GammaShape, InvertsTheGapOfItsLogarithms) {
  // E log w of Gamma(a, a) is psi(a) - log a, and E w is 1.
  for (const double shape : {0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0})
    EXPECT_NEAR(gamma_shape(std::log(shape) - digamma(shape)), shape, 0.02 * shape);
}

}  // namespace
}  // namespace pursuit
