#include "pursuit/baselines/generalized_power.hpp"

#include "baselines/test_fixtures.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

Matrix samples() {
  const Matrix A = gaussian(25, 40, 1) * uniform(40, 1, 2).asDiagonal();
  return A.rowwise() - A.colwise().mean();
}

/// The iteration as the authors write it, on the data: x <- the gradient of their objective, scaled.
/// Returns the support of the loadings, and checks that the objective rises.
Eigen::Array<bool, Eigen::Dynamic, 1> support_in_data_space(const Matrix& A, Penalty penalty, double gamma) {
  Index longest = 0;
  A.colwise().norm().maxCoeff(&longest);
  Vector x = A.col(longest).normalized(), loadings;
  double previous = 0;
  for (int iteration = 0; iteration < 3000; ++iteration) {
    const Vector products = A.transpose() * x;
    const Eigen::ArrayXd size = products.array().abs();
    double objective = 0;
    if (penalty == Penalty::l1) {
      loadings = (size - gamma).max(0) * products.array().sign();
      objective = loadings.squaredNorm();
    } else {
      loadings = (size.square() > gamma).select(products, 0.0);
      objective = (size.square() - gamma).max(0).sum();
    }
    EXPECT_GE(objective, previous * (1 - 1e-12));
    previous = objective;
    x = (A * loadings).normalized();
  }
  return loadings.array() != 0;
}

TEST(GeneralizedPower, IsTheIterationOnTheData) {
  const Matrix A = samples(), dense = A.transpose() * A;
  const auto data = data_matrix(dense);
  const Covariance C(data);
  for (const Penalty penalty : {Penalty::l0, Penalty::l1})
    for (const double share : {0.02, 0.1, 0.4}) {
      const double gamma = share * largest_gamma(C, penalty);
      const Component found =
          generalized_power(C, penalty, gamma, {.max_iterations = 5000, .tolerance = 1e-14});
      const auto support = support_in_data_space(A, penalty, gamma);
      EXPECT_TRUE(((found.u.array() != 0) == support).all()) << gamma;
      // The values on the support are those of its leading eigenvector.
      std::vector<Index> rows;
      for (Index i = 0; i < 40; ++i)
        if (support[i]) rows.push_back(i);
      const Vector values = symmetric_eigen(Matrix(dense(rows, rows))).values;
      EXPECT_NEAR(found.variance, values.maxCoeff(), 1e-6 * found.variance);
      EXPECT_NEAR(found.variance, quadratic_form(dense, found.u), 1e-10);
      EXPECT_NEAR(found.u.norm(), 1, 1e-12);
    }
}

TEST(GeneralizedPower, IsPcaWithoutPenalty) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  for (const Penalty penalty : {Penalty::l0, Penalty::l1})
    EXPECT_NEAR(generalized_power(Covariance(data), penalty, 0, {.tolerance = 1e-12}).variance, 4.219, 5e-4);
}

TEST(GeneralizedPower, OnlyTheHeaviestVariableStandsTheLargestPenalty) {
  const Matrix A = samples(), dense = A.transpose() * A;
  const auto data = data_matrix(dense);
  const Covariance C(data);
  for (const Penalty penalty : {Penalty::l0, Penalty::l1}) {
    const double largest = largest_gamma(C, penalty);
    EXPECT_EQ((generalized_power(C, penalty, largest * (1 - 1e-9)).u.array() != 0).count(), 1);
    for (const double gamma : {largest, -1.0, std::nan("")})
      EXPECT_THAT(message_of<InvalidArgument>([&] { generalized_power(C, penalty, gamma); }),
                  HasSubstr("below"));
  }
}

TEST(GeneralizedPowerSearch, ReachesTheCardinality) {
  const Matrix A = samples(), dense = A.transpose() * A;
  const auto data = data_matrix(dense);
  const Covariance C(data);
  for (const Penalty penalty : {Penalty::l0, Penalty::l1})
    for (const Index k : {1, 5, 12, 40}) {
      const auto [component, gamma] = generalized_power_search(C, penalty, k);
      EXPECT_EQ((component.u.array() != 0).count(), k);
      EXPECT_GE(component.variance, C.variances().maxCoeff() * (1 - 1e-12));
      EXPECT_LE(gamma, largest_gamma(C, penalty));
    }
  EXPECT_THAT(message_of<InvalidArgument>([&] { generalized_power_search(C, Penalty::l0, 41); }),
              HasSubstr("1..40"));
}

TEST(GeneralizedPowerSearch, ComesCloseToTheBestSupportsOfPitprops) {
  const Matrix dense = pitprops();
  const auto data = data_matrix(dense);
  for (const Penalty penalty : {Penalty::l0, Penalty::l1})
    for (const Index k : {4, 6, 8}) {
      const Component found = generalized_power_search(Covariance(data), penalty, k).component;
      const double best = best_over_supports(dense, (found.u.array() != 0).count(), false);
      EXPECT_LE((found.u.array() != 0).count(), k);
      EXPECT_LE(found.variance, best * (1 + 1e-12));
      EXPECT_GE(found.variance, 0.9 * best) << k;
    }
}

}  // namespace
}  // namespace pursuit
