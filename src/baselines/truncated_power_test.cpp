#include "pursuit/baselines/truncated_power.hpp"

#include <cmath>

#include "baselines/test_fixtures.hpp"

namespace pursuit {
namespace {

TEST(TruncatedPower, IsPcaWithoutTruncation) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const Component first =
      truncated_power(Covariance(data), sphere(), PowerStart::heaviest, {.tolerance = 1e-12});
  EXPECT_NEAR(first.variance, 4.219, 5e-4) << "32.4 % of 13 (Jeffers 1967)";
  EXPECT_NEAR(quadratic_form(dense, first.u), first.variance, 1e-12);
}

TEST(TruncatedPower, FindsTheBestSupportsOfPitprops) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  for (const bool nonnegative : {false, true})
    for (const Index k : {2, 4, 6, 8}) {
      const Atoms atoms = nonnegative ? nonneg() + sparse(k) : sparse(k);
      const Component found = truncated_power(Covariance(data), atoms, Matrix::Identity(13, 13));
      EXPECT_NEAR(found.variance, best_over_supports(dense, k, nonnegative), 1e-5) << atoms->spec();
      EXPECT_TRUE(atoms->contains(found.u));
    }
}

TEST(TruncatedPower, NeverFalls) {
  const Matrix dense = low_rank_covariance(60, 20, 1);
  const auto data = data_matrix(dense);
  const Covariance C(data);
  for (const Atoms& atoms : {sparse(7), nonneg() + sparse(7), nonneg()}) {
    const std::string spec = atoms->spec();
    double previous = 0, first = 0;
    for (int iterations = 1; iterations <= 12; ++iterations) {
      const double value =
          truncated_power(C, atoms, PowerStart::heaviest, {.max_iterations = iterations, .tolerance = 0})
              .variance;
      EXPECT_GE(value, previous * (1 - 1e-14)) << spec << ", iteration " << iterations;
      previous = value;
      if (iterations == 1) first = value;
    }
    EXPECT_GT(previous, first) << spec << ": the steps after the first one matter";
  }
}

/// Two fixed points for two non-zeros: e_1, the heaviest coordinate, and about e_2 - 0.6 e_3, which is
/// better.
Matrix with_two_fixed_points() {
  Matrix dense = Matrix::Zero(4, 4);
  dense.diagonal() << 2, 3, 2.5, 1;
  dense(2, 3) = dense(3, 2) = -1.4;
  return dense;
}
const double kBetter = 1.75 + std::hypot(.75, 1.4);

TEST(TruncatedPower, StartsWhereItIsTold) {
  const Matrix dense = with_two_fixed_points();
  const auto data = data_matrix(dense);
  const Covariance C(data);
  EXPECT_LT(max_difference(power_starts(C, PowerStart::heaviest), Vector::Unit(4, 1)), 1e-15);
  const Matrix both = power_starts(C, PowerStart::leading);
  ASSERT_EQ(both.cols(), 2);
  EXPECT_LT((both.col(0) + both.col(1)).norm(), 1e-15);
  EXPECT_LT(both(2, 0) * both(3, 0), 0);
  EXPECT_NEAR(truncated_power(C, sparse(2), PowerStart::heaviest).variance, 3, 1e-12);
  EXPECT_NEAR(truncated_power(C, sparse(2), PowerStart::leading).variance, kBetter, 1e-6);
}

TEST(TruncatedPower, AgreesWithItselfOnSamplesAndOnTheirCovariance) {
  const Matrix A = gaussian(30, 50, 2) * uniform(50, 1, 3).asDiagonal();
  const Matrix centred = A.rowwise() - A.colwise().mean(), dense = centred.transpose() * centred / 29;
  const auto formed = data_matrix(dense), samples = data_matrix(A);
  const Component direct = truncated_power(Covariance(formed), sparse(8)),
                  implicit = truncated_power(Covariance::of_samples(samples), sparse(8));
  EXPECT_LT(max_difference(direct.u, implicit.u), 1e-9);
}

TEST(CorrectComponents, NeverLowersWhatALoadingAddsToTheOthers) {
  const Matrix A = gaussian(40, 60, 4) * uniform(60, 1, 5).asDiagonal();
  const auto data = data_matrix(A);
  const Covariance C = Covariance::of_samples(data);
  const Atoms atoms = sparse(9);
  const auto find = [&](const Covariance& rest) { return truncated_power(rest, atoms).u; };
  for (const Deflation method : {Deflation::projection, Deflation::orthogonal_projection}) {
    const Matrix U = deflate_components(C, 2, method, find), V = correct_components(C, U, atoms, 1, method);
    const auto added = [&](const Vector& u, const Vector& other) {
      Matrix image;
      C.deflated(other, method).apply(u, image);
      return u.dot(image.col(0));
    };
    EXPECT_GE(added(V.col(0), U.col(1)), added(U.col(0), U.col(1)) * (1 - 1e-12));
    EXPECT_GE(added(V.col(1), V.col(0)), added(U.col(1), V.col(0)) * (1 - 1e-12));
    EXPECT_GT(max_difference(U, V), 1e-3) << "greedy loadings are not what corrections leave alone";
    for (const auto& v : V.colwise()) EXPECT_TRUE(atoms->contains(v));
    EXPECT_TRUE(same_bits(correct_components(C, U, atoms, 0, method), U));
  }
}

TEST(CorrectComponents, StartFromWhereALoadingIs) {
  const Matrix dense = with_two_fixed_points();
  const auto data = data_matrix(dense);
  const Covariance C(data);
  const Matrix better = truncated_power(C, sparse(2), PowerStart::leading).u;
  EXPECT_NEAR(explained_variance(C, correct_components(C, better, sparse(2), 1)).plain,
              kBetter / dense.trace(), 1e-7);
}

TEST(DeflateComponents, AreEigenvectorsOnTheSphere) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  const SymmetricEigen eigen = symmetric_eigen(dense);
  for (const Deflation method :
       {Deflation::hotelling, Deflation::projection, Deflation::schur, Deflation::orthogonal_projection}) {
    const Matrix U = deflate_components(Covariance(data), 4, method, [](const Covariance& C) {
      return truncated_power(C, sphere(), Vector(C.variances().cwiseSqrt()),
                             {.max_iterations = 5000, .tolerance = 1e-15})
          .u;
    });
    for (Index i = 0; i < 4; ++i)
      EXPECT_NEAR(std::abs(U.col(i).dot(eigen.vectors.col(12 - i))), 1, 1e-5) << name(method) << i;
  }
}

}  // namespace
}  // namespace pursuit
