// A matrix times a power of four has the same atoms to the last bit, wherever its entries lie in the range of
// numbers; and the exact path can be watched and stopped like any other.

#include <cmath>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

struct Case {
  std::string what;
  FactorOptions options;
};

std::vector<Case> cases() {
  return {{"spheres", {.rank = 4}},
          {"spheres by the pursuit", {.rank = 3, .use_exact_path = false}},
          {"nonneg", {.rank = 4, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg}},
          {"nonneg, leading",
           {.rank = 4,
            .left = nonneg(),
            .right = nonneg(),
            .weights = WeightRule::nonneg,
            .start = Start::leading}},
          {"sparse", {.rank = 3, .right = sparse(5)}}};
}

template <class M>
void expect_scale_free(const M& Y, const std::vector<int>& exponents) {
  for (const auto& [what, options] : cases()) {
    const FactorResult expected = factor(Y, options);
    for (const int exponent : exponents) {
      SCOPED_TRACE(what + ", times two to the " + std::to_string(exponent));
      M scaled = Y;
      using Scalar = typename M::Scalar;
      if constexpr (std::is_same_v<M, SparseMatrixOf<Scalar>>) {
        for (Index e = 0; e < scaled.nonZeros(); ++e)
          scaled.valuePtr()[e] = Scalar(std::ldexp(scaled.valuePtr()[e], exponent));
      } else {
        for (Index e = 0; e < scaled.size(); ++e)
          scaled.data()[e] = Scalar(std::ldexp(scaled.data()[e], exponent));
      }
      const FactorResult found = factor(scaled, options);
      EXPECT_TRUE(same_bits(found.model.left(), expected.model.left()));
      EXPECT_TRUE(same_bits(found.model.right(), expected.model.right()));
      EXPECT_TRUE(same_bits(found.model.weights, expected.model.weights * std::ldexp(1.0, exponent)));
      EXPECT_EQ(found.relative_error, expected.relative_error);
      EXPECT_EQ(found.stop, expected.stop);
    }
  }
}

TEST(Scale, OfDenseMatricesDoesNotMatter) {
  expect_scale_free(Matrix(uniform(90, 70, 1)), {-1000, -530, -400, -90, 90, 400, 1000});
}

TEST(Scale, OfSparseMatricesDoesNotMatter) {
  expect_scale_free(to_sparse(thinned(uniform(90, 70, 1), 0.2, 2)), {-530, -90, 90, 530});
}

TEST(Scale, OfSinglePrecisionDoesNotMatter) {
  expect_scale_free(Eigen::MatrixXf(uniform(90, 70, 1).cast<float>()), {-110, -60, 60, 110});
}

TEST(Scale, OfKnownAtomsAndOfTheHullIsThatOfTheMatrix) {
  const Matrix Y = uniform(30, 20, 1), tiny = std::ldexp(1.0, -600) * Y;
  FactorOptions options{.rank = 3, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg};
  options.initial = {Vector::Ones(30).normalized(), Vector::Ones(20).normalized(), Vector::Constant(1, 4.0),
                     false};
  options.fixed = 1;
  const FactorResult expected = factor(Y, options);
  options.initial.weights *= std::ldexp(1.0, -600);
  EXPECT_TRUE(same_bits(factor(tiny, options).model.left(), expected.model.left()));

  FactorOptions hull{.rank = 3, .weights = WeightRule(WeightRule::convex)};
  hull.weights.radius = 5;
  const FactorResult inside = factor(Y, hull);
  hull.weights.radius = std::ldexp(5.0, -600);
  EXPECT_TRUE(same_bits(factor(tiny, hull).model.left(), inside.model.left()));
}

TEST(Scale, OfASymmetricMatrixDoesNotMatter) {
  const Matrix half = gaussian(80, 80, 1), C = half + half.transpose();
  const FactorResult expected = factor_symmetric(C, {.rank = 3});
  for (const int exponent : {-900, 900}) {
    const FactorResult found = factor_symmetric(Matrix(std::ldexp(1.0, exponent) * C), {.rank = 3});
    EXPECT_TRUE(same_bits(found.model.left(), expected.model.left()));
    EXPECT_EQ(found.relative_error, expected.relative_error);
  }
}

TEST(Scale, OfSamplesDoesNotMatterToComponents) {
  const Matrix X = gaussian(60, 12, 1);
  for (const Atoms& atoms : {sphere(), sparse(4)}) {
    const PcaOptions options{.components = 2, .atoms = atoms, .effort = PcaOptions::Effort::low};
    const PcaResult expected = pca(data_matrix(X), options);
    for (const int exponent : {-1000, -530, -90, 90, 530, 1000}) {
      SCOPED_TRACE(exponent);
      const Matrix scaled = std::ldexp(1.0, exponent) * X;
      const PcaResult found = pca(data_matrix(scaled), options);
      EXPECT_TRUE(same_bits(found.loadings, expected.loadings));
      EXPECT_TRUE(same_bits(found.scores, expected.scores * std::ldexp(1.0, exponent)));
      EXPECT_EQ(found.explained_span, expected.explained_span);
    }
  }
}

TEST(Pca, TakesNumbersFromOneEndOfTheRangeToTheOther) {
  Matrix X(3, 3);
  X << 1, 1e308, 3, -400, 5, 7, 7, 9e18, .1;
  const PcaResult found = pca(data_matrix(X), {.components = 2});
  EXPECT_TRUE(found.loadings.allFinite());
  EXPECT_NEAR(std::abs(found.loadings(1, 0)), 1, 1e-12) << "the one column that varies";
  EXPECT_NEAR(found.explained_span, 1, 1e-12);
}

TEST(Pca, IsExactForSamplesFarFromZero) {
  // Through products with data that were not centred, figures were off by the digits that the offset takes.
  const Matrix Z = gaussian(50, 10, 1), X = Z.array() + std::ldexp(1.0, 33);
  const Matrix centred = X.rowwise() - X.colwise().mean();
  const PcaResult expected = pca(data_matrix(centred), {.components = 3}),
                  found = pca(data_matrix(X), {.components = 3});
  EXPECT_LT(max_difference(found.loadings.cwiseAbs(), expected.loadings.cwiseAbs()), 1e-9);
  EXPECT_NEAR(found.explained_span, expected.explained_span, 1e-12);
}

TEST(Pca, IsExactWhereOneComponentDominates) {
  Matrix X = gaussian(2000, 40, 1);
  X.col(0) *= 1e4;
  const Matrix centred = X.rowwise() - X.colwise().mean();
  const PcaResult found = pca(data_matrix(X), {.components = 5});
  const Matrix image = centred.transpose() * (centred * found.loadings);
  for (Index i = 0; i < 5; ++i) {
    const double value = found.loadings.col(i).dot(image.col(i));
    EXPECT_LT((image.col(i) - value * found.loadings.col(i)).norm(), 1e-6 * value) << "component " << i;
  }
}

TEST(Pca, OfConstantSamplesIsRefusedWhateverRoundingLeaves) {
  EXPECT_THAT(message_of<InvalidInput>(
                  [] { pca(data_matrix(Matrix(Matrix::Constant(7, 3, 0.1))), {.components = 1}); }),
              testing::HasSubstr("constant"));
}

TEST(Pca, OfSinglePrecisionOfLowRankFindsSparseComponents) {
  Eigen::MatrixXf onehot = Eigen::MatrixXf::Zero(60, 6);  // rows sum to one: the covariance is singular
  for (Index i = 0; i < 60; ++i) onehot(i, (i * i + i / 7) % 6) = 1;
  const PcaResult found = pca(data_matrix(onehot), {.components = 3, .atoms = sparse(2)});
  EXPECT_EQ(found.loadings.cols(), 3);
  EXPECT_GT(found.explained_span, 0.4);
}

TEST(ExactPath, CallsTheObserverAndStopsWhenAsked) {
  const Matrix Y = gaussian(300, 200, 1);
  int iterations = 0, atoms = 0;
  FactorOptions options{.rank = 5};
  options.observer = [&](const Moment& moment) {
    ++(moment.phase == Moment::Phase::iteration ? iterations : atoms);
    EXPECT_EQ(moment.target_rank, 5);
    return true;
  };
  const FactorResult whole = factor(Y, options);
  EXPECT_GT(iterations, 2);
  EXPECT_EQ(atoms, 5);

  options.observer = [](const Moment& moment) { return moment.phase == Moment::Phase::iteration; };
  const FactorResult first = factor(Y, options);
  EXPECT_EQ(first.stop, Stop::interrupted);
  EXPECT_EQ(first.model.rank(), 1);

  options.observer = [](const Moment&) { return false; };
  const FactorResult early = factor(Y, options);
  EXPECT_EQ(early.stop, Stop::interrupted);
  EXPECT_GT(early.model.rank(), 0);
  EXPECT_GE(early.relative_error, whole.relative_error);
  EXPECT_NEAR(early.relative_error,
              (Y - early.model.scaled_left() * early.model.right().transpose()).norm() / Y.norm(), 1e-12);
}

TEST(ExactPath, KeepsValuesThatTheErrorDoesNotSee) {
  Vector values(5);
  values << 1, 1e-3, 1e-9, 1e-10, 1e-11;
  Matrix Y = Matrix::Zero(90, 80);
  Y.diagonal().head(5) = values;
  const FactorResult found = factor(Y, {.rank = 5});
  ASSERT_EQ(found.model.rank(), 5);
  EXPECT_LT((found.model.weights - values).cwiseQuotient(values).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(ExactPath, KeepsTheTimeLimit) {
  const Matrix Y = gaussian(300, 200, 1);
  FactorOptions options{.rank = 5};
  options.time_limit = 1e-9;
  const FactorResult found = factor(Y, options);
  EXPECT_EQ(found.stop, Stop::time_limit);
  EXPECT_EQ(pca(data_matrix(Y), {.components = 5, .time_limit = 1e-9}).stop, Stop::time_limit);
  EXPECT_EQ(pca(data_matrix(Y), {.components = 5, .atoms = sparse(20), .time_limit = 1e-9}).stop,
            Stop::time_limit);
}

TEST(DataMatrix, OwnsAMatrixThatGoesAway) {
  const Matrix A = gaussian(20, 10, 1), V = gaussian(10, 3, 2);
  const DataMatrixPtr dense = data_matrix(Matrix(A)), sparse = data_matrix(to_sparse(A));
  Matrix out;
  dense->apply(V, out);
  EXPECT_LT(max_difference(out, A * V), 1e-12);
  sparse->apply(V, out);
  EXPECT_LT(max_difference(out, A * V), 1e-12);
}

}  // namespace
}  // namespace pursuit
