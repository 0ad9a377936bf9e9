#include "pursuit/algorithms/pca.hpp"

#include <limits>
#include <memory>
#include <vector>

#include "linalg/cholesky.hpp"
#include "linalg/decompositions.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

Matrix samples_with_offset(Index n, Index p, std::uint64_t seed) {
  Random random(seed);
  return (random.gaussian_matrix(n, 4) * random.gaussian_matrix(4, p) + 0.3 * random.gaussian_matrix(n, p))
             .array() +
         50;
}

TEST(Pca, MissingDirectionsStartFromNothingUnwritten) {
  // Freed memory full of NaN is what a vector that grows may find.
  const Matrix A = gaussian(12, 1, 1) * gaussian(1, 8, 2);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<std::unique_ptr<Vector>> dirt;
    for (Index size = 1; size <= 16; ++size)
      dirt.push_back(
          std::make_unique<Vector>(Vector::Constant(size, std::numeric_limits<double>::quiet_NaN())));
    dirt.clear();
    const PcaResult result = pca(data_matrix(A), {.components = 6, .atoms = sparse(3)});
    EXPECT_TRUE(result.loadings.allFinite());
  }
}

TEST(Pca, SphereIsClassicalPca) {
  const Matrix A = samples_with_offset(40, 25, 1);
  const Matrix centred = A.rowwise() - A.colwise().mean();
  const ThinSvd svd = thin_svd(centred);
  const PcaResult result = pca(data_matrix(A), {.components = 3});
  const double expected = svd.values.head(3).squaredNorm() / centred.squaredNorm();
  EXPECT_NEAR(result.explained_span, expected, 1e-10);
  EXPECT_NEAR(result.explained_plain, expected, 1e-10);
  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(std::abs(result.loadings.col(i).dot(svd.right.col(i))), 1, 1e-8);
  EXPECT_LT((result.means.transpose() - A.colwise().mean()).norm(), 1e-10);
  EXPECT_LT((result.scores - centred * result.loadings).norm(), 1e-8);
}

TEST(Pca, SparseLoadingsKeepTheirBoundAndStayBelowPca) {
  const Matrix A = samples_with_offset(60, 40, 2);
  const double bound = pca(data_matrix(A), {.components = 4}).explained_span;
  for (const Atoms& atoms : {sparse(8), nonneg() + sparse(8), nonneg()}) {
    const std::string spec = atoms->spec();
    const PcaResult result = pca(data_matrix(A), {.components = 4, .atoms = atoms});
    EXPECT_LE(result.explained_span, bound + 1e-12) << spec;
    EXPECT_GT(result.explained_span, 0.5 * bound) << spec;
    for (Index i = 0; i < result.loadings.cols(); ++i)
      EXPECT_TRUE(atoms->contains(result.loadings.col(i))) << spec;
  }
}

TEST(Pca, MoreEffortExplainsNoLess) {
  const Matrix A = samples_with_offset(50, 60, 5);
  for (const Atoms& atoms : {sparse(6), nonneg() + sparse(6)}) {
    const std::string spec = atoms->spec();
    PcaOptions options{.components = 3, .atoms = atoms};
    options.effort = PcaOptions::Effort::low;
    const double low = pca(data_matrix(A), options).explained_span;
    options.effort = PcaOptions::Effort::normal;
    EXPECT_GE(pca(data_matrix(A), options).explained_span, low - 1e-9) << spec;
  }
}

TEST(Pca, BeginsWithLoadingsThatAreGivenAndEndsNoWorse) {
  const Matrix A = samples_with_offset(50, 60, 5);
  PcaOptions options{.components = 4, .atoms = sparse(6)};
  const PcaResult best = pca(data_matrix(A), options);
  options.effort = PcaOptions::Effort::low;
  const double low = pca(data_matrix(A), options).explained_span;
  ASSERT_LT(low, best.explained_span - 1e-6) << "this test needs a search that helps";
  options.initial = best.loadings;
  EXPECT_GE(pca(data_matrix(A), options).explained_span, best.explained_span - 1e-9);
  options.components = 5;  // another one joins them
  EXPECT_GT(pca(data_matrix(A), options).explained_span, best.explained_span + 1e-3);
  options.components = 3;
  EXPECT_THAT(message_of<InvalidArgument>([&] { pca(data_matrix(A), options); }),
              HasSubstr("initial: 60 x 4"));
}

TEST(Pca, FindsTheBestSupportsOfASmallProblem) {
  // All pairs of supports of two components, each with its best values, by alternating from the support
  // outwards.
  const Matrix A = samples_with_offset(12, 6, 6);
  const Matrix centred = A.rowwise() - A.colwise().mean();
  const Matrix C = centred.transpose() * centred;
  double best = 0;
  for (unsigned first = 1; first < 64; ++first)
    for (unsigned second = first; second < 64; ++second) {
      if (std::popcount(first) != 2 || std::popcount(second) != 2) continue;
      // A span of two vectors with these supports: search angles finely.
      std::vector<Index> a, b;
      for (Index i = 0; i < 6; ++i) {
        if (first >> i & 1U) a.push_back(i);
        if (second >> i & 1U) b.push_back(i);
      }
      for (int s = 0; s < 40; ++s)
        for (int t = 0; t < 40; ++t) {
          Matrix U = Matrix::Zero(6, 2);
          U(a[0], 0) = std::cos(s * 3.14159265 / 40), U(a[1], 0) = std::sin(s * 3.14159265 / 40);
          U(b[0], 1) = std::cos(t * 3.14159265 / 40), U(b[1], 1) = std::sin(t * 3.14159265 / 40);
          const Matrix gram = U.transpose() * U;
          if (gram(0, 0) * gram(1, 1) - gram(0, 1) * gram(1, 0) < 1e-6) continue;
          best = std::max(best, Cholesky(gram).solve(U.transpose() * C * U).trace() / C.trace());
        }
    }
  EXPECT_GE(pca(data_matrix(A), {.components = 2, .atoms = sparse(2)}).explained_span, best - 1e-9);
}

TEST(Pca, SingleNonnegativeComponentIsTheBestOfAllSupports) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Matrix A = samples_with_offset(15, 8, seed);
    const Matrix centred = A.rowwise() - A.colwise().mean();
    const Matrix C = centred.transpose() * centred;
    double best = 0;
    for (unsigned support = 1; support < 256; ++support) {
      if (std::popcount(support) > 3) continue;
      std::vector<Index> at;
      for (Index i = 0; i < 8; ++i)
        if (support >> i & 1U) at.push_back(i);
      const SymmetricEigen eigen = symmetric_eigen(Matrix(C(at, at)));
      for (Index k = 0; k < Index(at.size());
           ++k) {  // a non-negative maximiser on its support is an eigenvector
        const Vector v = eigen.vectors.col(k);
        if (v.minCoeff() >= 0 || v.maxCoeff() <= 0) best = std::max(best, eigen.values[k]);
      }
    }
    const PcaResult result = pca(data_matrix(A), {.components = 1, .atoms = nonneg() + sparse(3)});
    EXPECT_NEAR(result.explained_span, best / C.trace(), 1e-9) << seed;
  }
}

TEST(Pca, BoundsPerComponentAndSharedBoundsAreKept) {
  const Matrix A = samples_with_offset(60, 40, 7);
  const PcaResult listed = pca(data_matrix(A), {.components = 3, .nonzeros = {9, 5, 2}});
  const Index bounds[] = {9, 5, 2};
  for (Index i = 0; i < 3; ++i) EXPECT_LE((listed.loadings.col(i).array() != 0).count(), bounds[i]);
  PcaOptions shared{.components = 3, .atoms = nonneg()};
  shared.total_nonzeros = 16;
  const PcaResult together = pca(data_matrix(A), shared);
  EXPECT_LE((together.loadings.array() != 0).count(), 16);
  EXPECT_GE(together.loadings.minCoeff(), 0);
  // Sharing out is worth something: an even split is one way of it.
  const double even = pca(data_matrix(A), {.components = 3, .atoms = sparse(5)}).explained_span;
  shared.atoms = sphere();
  shared.total_nonzeros = 15;
  EXPECT_GE(pca(data_matrix(A), shared).explained_span, 0.98 * even);
}

TEST(Pca, OrthogonalityCostsOverlap) {
  const Matrix A = samples_with_offset(60, 30, 8);
  const auto overlap = [](const Matrix& U) {
    const Matrix gram = U.transpose() * U;
    return gram.squaredNorm() - gram.diagonal().squaredNorm();
  };
  const PcaResult free = pca(data_matrix(A), {.components = 3, .atoms = sparse(12)});
  const PcaResult bound = pca(data_matrix(A), {.components = 3, .atoms = sparse(12), .orthogonality = 1.0});
  EXPECT_LT(overlap(bound.loadings), 0.1 * overlap(free.loadings) + 1e-6);
  EXPECT_LE(bound.explained_span, free.explained_span + 1e-9);
  EXPECT_GT(bound.explained_span, 0.9 * free.explained_span);
}

TEST(Pca, StoppedAtOnceHasComponents) {
  for (const Index p : {30, 300}) {  // a long search, a short one
    const PcaResult result =
        pca(data_matrix(samples_with_offset(50, p, 3)),
            {.components = 3, .atoms = sparse(5), .observer = [](const Moment&) { return false; }});
    EXPECT_EQ(result.stop, Stop::interrupted);
    ASSERT_EQ(result.loadings.cols(), 3);
    for (Index i = 0; i < 3; ++i) {
      EXPECT_NEAR(result.loadings.col(i).norm(), 1, 1e-12);
      EXPECT_LE((result.loadings.col(i).array() != 0).count(), 5);
    }
    EXPECT_GT(result.explained_span, 0.05);
  }
}

TEST(Pca, OfCorrelationsIsPcaOfStandardisedData) {
  Matrix A = samples_with_offset(40, 12, 9);
  A.col(3) *= 100;
  const Matrix centred = A.rowwise() - A.colwise().mean();
  const Vector deviations = (centred.colwise().squaredNorm() / 39).cwiseSqrt().transpose();
  const Matrix standardised = centred * deviations.cwiseInverse().asDiagonal();
  const PcaOptions options{.components = 3, .atoms = sparse(4), .correlation = true};
  const PcaResult result = pca(data_matrix(A), options);
  EXPECT_NEAR(result.explained_span,
              pca(data_matrix(standardised), {.components = 3, .atoms = sparse(4)}).explained_span, 1e-9);
  const Matrix correlations = standardised.transpose() * standardised / 39;
  EXPECT_NEAR(result.explained_span,
              pca_of_covariance(correlations, {.components = 3, .atoms = sparse(4)}).explained_span, 1e-9);
}

TEST(Pca, SameForAnyNumberOfThreads) {
  const Matrix A = samples_with_offset(30, 700, 10);  // wide: the data itself is multiplied
  const PcaOptions options{.components = 3, .atoms = sparse(20)};
  const PcaResult one = pca(data_matrix(A, 1), options);
  for (const int threads : {2, 4}) EXPECT_EQ(one.loadings, pca(data_matrix(A, threads), options).loadings);
}

TEST(Pca, SearchesInSinglePrecisionAtAnyScale) {
  const Matrix A = samples_with_offset(30, 700, 10);
  const PcaOptions options{.components = 3, .atoms = sparse(20)};
  const PcaResult plain = pca(data_matrix(A), options);
  for (const int power : {-120, -60, 60, 120}) {  // squares of the outer ones are no single precision numbers
    const PcaResult scaled = pca(data_matrix(Matrix(std::ldexp(1.0, power) * A)), options);
    EXPECT_EQ(plain.loadings, scaled.loadings) << "2^" << power;
  }
}

TEST(Pca, LargeDataGiveTheSameBitsForAnyNumberOfThreads) {  // climbs share products with them
  const Matrix A = gaussian(900, 9, 31) * gaussian(9, 2500, 32) + 0.3 * gaussian(900, 2500, 33);
  PcaOptions options{.components = 2, .atoms = sparse(50), .effort = PcaOptions::Effort::low};
  const PcaResult one = pca(data_matrix(A, 1), options);
  EXPECT_GT(one.explained_span, 0.02);
  for (const int threads : {2, 16}) {
    options.threads = threads;
    EXPECT_TRUE(same_bits(one.loadings, pca(data_matrix(A, threads), options).loadings))
        << threads << " threads";
  }
}

TEST(ExplainedVariance, SpanCountsOverlapOnceAndPlainTwice) {
  Random random(3);
  const Matrix A = random.gaussian_matrix(30, 6);
  const auto data = data_matrix(A);
  Matrix twice(6, 2);
  twice.col(0) = twice.col(1) = Vector::Unit(6, 2);
  const auto once = explained_variance(*data, twice.leftCols(1)), both = explained_variance(*data, twice);
  EXPECT_NEAR(both.span, once.span, 1e-12);
  EXPECT_NEAR(both.plain, 2 * once.plain, 1e-12);
  EXPECT_NEAR(explained_variance(*data, Matrix::Identity(6, 6)).span, 1, 1e-12);
}

TEST(Pca, BadInputIsNamed) {
  const Matrix A = samples_with_offset(10, 5, 4);
  EXPECT_THROW(pca(data_matrix(A), {.components = 0}), InvalidArgument);
  EXPECT_THROW(pca(data_matrix(A), {.components = 6}), InvalidArgument);
  EXPECT_THROW(pca(data_matrix(A), {.components = 2, .atoms = sparse(9)}), InvalidArgument);
  const Matrix constant = Matrix::Ones(10, 5);
  EXPECT_THROW(pca(data_matrix(constant), {.components = 2}), InvalidInput);
  const auto refusal = [&](const PcaOptions& options) {
    return message_of<InvalidArgument>([&] { pca(data_matrix(A), options); });
  };
  EXPECT_THAT(refusal({.components = 2, .nonzeros = {2}}), HasSubstr("1 numbers for 2 components"));
  EXPECT_THAT(refusal({.components = 2, .nonzeros = {2, 9}}), HasSubstr("nonzeros 9"));
  EXPECT_THAT(refusal({.components = 2, .atoms = sparse(2), .nonzeros = {2, 2}}), HasSubstr("sparse:2"));
  EXPECT_THAT(refusal({.components = 2, .total_nonzeros = 1}), HasSubstr("total_nonzeros 1"));
  EXPECT_THAT(refusal({.components = 2, .orthogonality = -1}), HasSubstr("orthogonality -1"));
  Matrix stuck = A;
  stuck.col(2).setConstant(7);
  EXPECT_THAT(
      message_of<InvalidInput>([&] { pca(data_matrix(stuck), {.components = 2, .correlation = true}); }),
      HasSubstr("column 3 is constant"));
  stuck.col(4).setZero();
  const auto names = [&](Index count) {
    std::vector<std::string> result;
    for (Index j = 0; j < count; ++j) result.push_back(fmt::format("gene{}", j));
    return result;
  };
  const PcaOptions named{.components = 2, .correlation = true, .names = names(stuck.cols())};
  EXPECT_THAT(message_of<InvalidInput>([&] { pca(data_matrix(stuck), named); }),
              HasSubstr("columns 3 (gene2), 5 (gene4) are constant"));
  Matrix C = Matrix::Identity(3, 3);
  C(0, 1) = 0.5;
  EXPECT_THAT(message_of<InvalidInput>([&] { pca_of_covariance(C, {.components = 1}); }),
              HasSubstr("symmetric"));
  C(1, 0) = 0.5, C(2, 2) = -1;
  EXPECT_THAT(message_of<InvalidInput>([&] { pca_of_covariance(C, {.components = 1}); }),
              HasSubstr("negative diagonal"));
  C(2, 2) = 1, C(0, 1) = C(1, 0) = 3;
  EXPECT_THAT(message_of<InvalidInput>([&] { pca_of_covariance(C, {.components = 1}); }),
              HasSubstr("semidefinite"));
  const Matrix one_sample = Matrix::Ones(1, 5);
  EXPECT_THROW(pca(data_matrix(one_sample), {.components = 1}), InvalidArgument);
}

TEST(Pca,
     CovariancesOfManyVariablesAreCheckedInOnePass) {  // looking at all entries for each would take minutes
  const Index p = 1200;
  Matrix covariance = Matrix::Identity(p, p);
  covariance(7, 7) = 4;
  const PcaResult result = pca_of_covariance(covariance, {.components = 1, .nonzeros = {1}});
  EXPECT_NEAR(std::abs(result.loadings(7, 0)), 1, 1e-12);
}

/// A loading along which nothing varies has no image to be turned towards: that was not a number once.
TEST(Pca, MoreSparseComponentsThanDirectionsThatVaryAreStillFound) {
  Matrix A = Matrix::Zero(15, 17);
  A(3, 7) = 2.842, A(14, 0) = 0.330, A(14, 12) = -2.716;
  const PcaResult result = pca(data_matrix(A), {.components = 3, .atoms = sparse(2)});
  EXPECT_TRUE(result.loadings.allFinite());
  EXPECT_NEAR(result.explained_span, 1, 1e-9);
}

TEST(Pca, GivesTheSameBitsForAnyNumberOfThreads) {
  const Matrix A = gaussian(60, 9, 31) * gaussian(9, 70, 32) + 0.3 * gaussian(60, 70, 33);
  for (const PcaOptions& options : {PcaOptions{.components = 1, .atoms = sparse(9)},
                                    PcaOptions{.components = 3, .atoms = nonneg() + sparse(12)},
                                    PcaOptions{.components = 3, .total_nonzeros = 30}}) {
    const PcaResult one = pca(data_matrix(A, 1), options);
    for (const int threads : {2, 3, 16}) {
      PcaOptions shared = options;
      shared.threads = threads;
      const PcaResult many = pca(data_matrix(A, threads), shared);
      EXPECT_TRUE(same_bits(one.loadings, many.loadings)) << threads << " threads";
      EXPECT_EQ(one.sweeps, many.sweeps);
    }
  }
}

}  // namespace
}  // namespace pursuit
