// Deflations against the dense formulas of Mackey (2009), and covariances of samples that are never formed.

#include "pursuit/baselines/covariance.hpp"

#include "baselines/test_fixtures.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

constexpr Deflation kAll[] = {Deflation::hotelling, Deflation::projection, Deflation::schur,
                              Deflation::orthogonal_projection};

Matrix dense(const Covariance& C) {
  Matrix result;
  C.apply(Matrix::Identity(C.rows(), C.rows()), result);
  return result;
}

Matrix projector_off(const Vector& u) {
  return Matrix::Identity(u.size(), u.size()) - u * u.transpose();
}

Matrix deflated_densely(const Matrix& C, const Vector& u, Deflation method) {
  switch (method) {
    case Deflation::hotelling: return C - quadratic_form(C, u) * u * u.transpose();
    case Deflation::schur: return C - C * u * u.transpose() * C / quadratic_form(C, u);
    default: return projector_off(u) * C * projector_off(u);
  }
}

TEST(Covariance, IsThatOfTheSamples) {
  for (const auto& [n, p] : {std::pair<Index, Index>{7, 90}, {90, 7}, {70, 70}}) {
    const Matrix A = gaussian(n, p, 1).array() + 20;
    const Matrix centred = A.rowwise() - A.colwise().mean();
    const Matrix expected = centred.transpose() * centred / double(n - 1);
    const Covariance C = Covariance::of_samples(data_matrix(A));
    EXPECT_LT(max_difference(dense(C), expected), 1e-10) << n << " x " << p;
    EXPECT_LT(max_difference(C.variances(), expected.diagonal()), 1e-10) << n << " x " << p;
    EXPECT_NEAR(C.total_variance(), expected.trace(), 1e-9);
  }
}

TEST(Covariance, DeflationsAreThoseOfTheirFormulas) {
  const Matrix dense_C = low_rank_covariance(9, 12, 2);
  const auto data = data_matrix(dense_C);
  for (const Deflation method : kAll) {
    if (method == Deflation::orthogonal_projection) continue;
    Covariance C(data);
    Matrix expected = dense_C;
    for (std::uint64_t step = 0; step < 4; ++step) {
      const Vector u = gaussian(9, 1, 10 + step).col(0).normalized();
      C = C.deflated(u, method);
      expected = deflated_densely(expected, u, method);
      EXPECT_LT(max_difference(dense(C), expected), 1e-12) << name(method) << ", step " << step;
      EXPECT_LT(max_difference(C.variances(), expected.diagonal()), 1e-12) << name(method);
    }
  }
}

TEST(Covariance, OrthogonalProjectionRemovesTheWholeSpan) {
  const Matrix dense_C = low_rank_covariance(9, 12, 3), U = gaussian(9, 4, 4).colwise().normalized();
  const auto data = data_matrix(dense_C);
  Covariance C(data);
  for (const auto& u : U.colwise()) C = C.deflated(u, Deflation::orthogonal_projection);
  const Matrix off = Matrix::Identity(9, 9) - U * least_squares(U.transpose() * U, U.transpose());
  EXPECT_LT(max_difference(dense(C), off * dense_C * off), 1e-12);
  EXPECT_LT(max_difference(C.variances(), (off * dense_C * off).diagonal()), 1e-12);
  const Covariance same = C.deflated(U.col(1), Deflation::orthogonal_projection);
  EXPECT_LT(max_difference(dense(same), dense(C)), 1e-12) << "there is nothing left to remove";
}

TEST(Covariance, DeflationsDifferInWhatTheyPromise) {
  const Matrix dense_C = low_rank_covariance(8, 10, 5);
  const auto data = data_matrix(dense_C);
  const Vector u = gaussian(8, 1, 6).col(0).normalized(), v = gaussian(8, 1, 7).col(0).normalized();
  for (const Deflation method : kAll) {
    const Matrix once = dense(Covariance(data).deflated(u, method));
    EXPECT_NEAR(quadratic_form(once, u), 0, 1e-12) << name(method);
    EXPECT_EQ((once * u).norm() > 1e-3, method == Deflation::hotelling) << "only Hotelling leaves C'u";
    EXPECT_EQ(symmetric_eigen(once).values[0] < -1e-3, method == Deflation::hotelling)
        << "or an indefinite matrix";
    const Matrix twice = dense(Covariance(data).deflated(u, method).deflated(v, method));
    const bool stays_away = method == Deflation::schur || method == Deflation::orthogonal_projection;
    EXPECT_EQ((twice * u).norm() < 1e-10, stays_away) << name(method);
  }
}

TEST(Covariance, EigenvectorsDeflateAlike) {
  const Matrix C = pitprops();
  const auto data = data_matrix(C);
  const SymmetricEigen eigen = symmetric_eigen(C);
  const Vector u = eigen.vectors.col(12);
  const Matrix expected = C - eigen.values[12] * u * u.transpose();
  for (const Deflation method : kAll)
    EXPECT_LT(max_difference(dense(Covariance(data).deflated(u, method)), expected), 1e-12) << name(method);
}

TEST(PlainVariance, SumsTheVariancesOfTheLoadings) {
  const Matrix dense_C = pitprops();
  const auto data = data_matrix(dense_C);
  const Covariance C(data);
  EXPECT_NEAR(explained_variance(C, Matrix::Identity(13, 13)).plain, 1, 1e-12);
  Matrix U(13, 2);
  U << Vector::Ones(13).normalized(), Vector::Ones(13).normalized();
  EXPECT_NEAR(explained_variance(C, U).plain, 2 * dense_C.sum() / 169, 1e-12) << "overlap counts twice";
}

TEST(Covariance, BadInputIsNamed) {
  const Matrix wide = Matrix::Ones(2, 3), one = Matrix::Ones(1, 3);
  EXPECT_THAT(message_of<InvalidInput>([&] { Covariance{data_matrix(wide)}; }),
              HasSubstr("square, not 2 x 3"));
  EXPECT_THAT(message_of<InvalidInput>([&] { Covariance::of_samples(data_matrix(one)); }),
              HasSubstr("at least 2 samples"));
  for (const Deflation method : kAll) EXPECT_EQ(parse_deflation(name(method)), method);
  EXPECT_THAT(message_of<InvalidArgument>([] { parse_deflation("Schur"); }),
              testing::AllOf(HasSubstr("'Schur'"), HasSubstr("hotelling, projection, schur")));
}

}  // namespace
}  // namespace pursuit
