// Dictionaries against all their columns, spans against dense least squares, combinations of a few columns
// against all of these, and both implicit bases against explicit matrices.

#include <numbers>

#include "atoms/basis.hpp"
#include "atoms/exhaustive_test_support.hpp"
#include "linalg/decompositions.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// d_ij = s_j cos(pi (i + 1/2) j / n).
Matrix cosine_matrix(Index n) {
  Matrix D(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i)
      D(i, j) = std::sqrt((j == 0 ? 1.0 : 2.0) / double(n)) *
                std::cos(std::numbers::pi * (double(i) + 0.5) * double(j) / double(n));
  return D;
}

/// For n a power of two: the usual wavelets, by doubling.
Matrix haar_matrix(Index n) {
  if (n == 1) return Matrix::Ones(1, 1);
  const Index half = n / 2;
  const Matrix coarse = haar_matrix(half);
  Matrix D = Matrix::Zero(n, n);
  for (Index j = 0; j < half; ++j)
    for (Index i = 0; i < half; ++i) D(2 * i, j) = D(2 * i + 1, j) = coarse(i, j) / std::numbers::sqrt2;
  for (Index j = 0; j < half; ++j) {
    D(2 * j, half + j) = 1 / std::numbers::sqrt2;
    D(2 * j + 1, half + j) = -1 / std::numbers::sqrt2;
  }
  return D;
}

Matrix columns_of(const Basis& basis, Index n) {
  Matrix D(n, basis.count(n));
  Vector column(n);
  for (Index j = 0; j < D.cols(); ++j) {
    basis.vector(j, column);
    D.col(j) = column;
  }
  return D;
}

void expect_basis(const Basis& basis, Index n) {
  const Matrix D = columns_of(basis, n);
  ASSERT_EQ(D.cols(), n);
  EXPECT_LT(max_difference(Matrix(D.transpose() * D), Matrix(Matrix::Identity(n, n))), 1e-13) << "n = " << n;
  const Vector x = gaussian(n, 1, std::uint64_t(n));
  Vector products, energies;
  basis.analyze(x, products);
  EXPECT_LT(max_difference(products, Vector(D.transpose() * x)), 1e-12) << "n = " << n;
  const Vector a = uniform(n, 1, std::uint64_t(n) + 1);
  basis.energies(a, energies);
  EXPECT_LT(max_difference(energies, Vector(D.cwiseAbs2().transpose() * a)), 1e-12) << "n = " << n;
}

TEST(CosineBasis, IsTheMatrixOfCosines) {
  for (Index n = 1; n <= 40; ++n) {
    expect_basis(*cosine_basis(), n);
    EXPECT_LT(max_difference(columns_of(*cosine_basis(), n), cosine_matrix(n)), 1e-13) << "n = " << n;
  }
  for (const Index n : {97, 128, 210}) expect_basis(*cosine_basis(), n);
}

TEST(HaarBasis, IsOrthonormalForEveryLengthAndTheUsualOneForPowersOfTwo) {
  for (Index n = 1; n <= 40; ++n) expect_basis(*haar_basis(), n);
  for (const Index n : {97, 128, 210}) expect_basis(*haar_basis(), n);
  for (const Index n : {1, 2, 4, 8, 16, 64})
    EXPECT_LT(max_difference(columns_of(*haar_basis(), n), haar_matrix(n)), 1e-14) << "n = " << n;
}

/// A few columns, none of them zero, dense or sparse.
struct Columns {
  Matrix unit;
  Dictionary dictionary;
};

Columns any_columns(Index n, Index count) {
  Matrix D(n, count);
  for (Index j = 0; j < count; ++j) {
    for (Index i = 0; i < n; ++i) D(i, j) = *rc::gen::inRange(-2, 3);
    if (D.col(j).norm() == 0) D(j % n, j) = 1;
  }
  Columns columns{D.colwise().normalized(), {}};
  if (*rc::gen::arbitrary<bool>())
    columns.dictionary.columns = D;
  else
    columns.dictionary.columns = Eigen::SparseMatrix<double>(D.sparseView());
  return columns;
}

Columns orthonormal_columns(Index n) {
  switch (*rc::gen::inRange(0, 3)) {
    case 0: return {cosine_matrix(n), {.kind = Dictionary::Kind::dct}};
    case 1: return {columns_of(*haar_basis(), n), {.kind = Dictionary::Kind::haar}};
    default: break;
  }
  const Matrix Q = orthonormal_basis(gaussian(n, n, std::uint64_t(n)));
  return {Q, {.columns = Q}};
}

/// The best combination of some columns, by dense least squares in sqrt(a) x = b / sqrt(a).
Vector best_combination(const Matrix& D, const Vector& a, const Vector& b) {
  const Vector roots = a.cwiseSqrt(), target = (a.array() > 0).select(b.array() / roots.array(), 0.0);
  const Matrix weighted = roots.asDiagonal() * D;
  const Matrix basis = independent_basis(weighted, 1e-10);
  return D * least_squares(basis.transpose() * weighted, basis.transpose() * target);
}

/// Calls visit with every choice of k columns.
template <class Visit>
void for_each_choice(const Matrix& D, Index k, const Visit& visit) {
  for (unsigned mask = 1; mask < (1U << unsigned(D.cols())); ++mask) {
    if (std::popcount(mask) != int(k)) continue;
    Matrix some(D.rows(), k);
    for (Index j = 0, next = 0; j < D.cols(); ++j)
      if (exhaustive::in_support(mask, j)) some.col(next++) = D.col(j);
    visit(some);
  }
}

/// Combinations of k columns.
exhaustive::Reference combinations(const Matrix& D, Index k) {
  const auto gain = [=](const Vector& a, const Vector& b) {
    double best = 0;
    for_each_choice(D, k,
                    [&](const Matrix& some) { best = std::max(best, b.dot(best_combination(some, a, b))); });
    return best;
  };
  const auto member = [=](const Vector& u) {
    double nearest = 1;
    for_each_choice(D, k, [&](const Matrix& some) {
      nearest = std::min(nearest, (best_combination(some, Vector::Ones(u.size()), u) - u).norm());
    });
    return std::abs(u.norm() - 1) < 1e-12 && nearest < 1e-10;
  };
  return {[=](const Vector& g) { return std::sqrt(gain(Vector::Ones(g.size()), g)); }, gain, member};
}

RC_GTEST_PROP(DictionarySet, IsTheBestOfAllColumns, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const bool any = *rc::gen::arbitrary<bool>();
  const Columns columns = any ? any_columns(n, *rc::gen::inRange<Index>(1, 9)) : orthonormal_columns(n);
  const Matrix& D = columns.unit;
  // Rounding tells zero curvature along a column from a little of it only down to about its square root.
  exhaustive::check_oracles(*dictionary(columns.dictionary), n, combinations(D, 1), {.tolerance = 1e-7});
}

RC_GTEST_PROP(Span, IsTheLeastSquaresFit, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const Columns columns = any_columns(n, *rc::gen::inRange<Index>(1, 6));
  const Matrix& D = columns.unit;
  exhaustive::check_oracles(*span(columns.dictionary), n, combinations(D, D.cols()), {.tolerance = 1e-7});
}

RC_GTEST_PROP(SparseIn, IsExactForOrthonormalColumnsAndEqualCurvatures, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 8), k = *rc::gen::inRange<Index>(1, n + 1);
  const Columns columns = orthonormal_columns(n);
  const Atoms set = sparse_in(columns.dictionary, k);
  RC_ASSERT(set->traits().oracle_factor == 1);
  exhaustive::check_oracles(*set, n, combinations(columns.unit, k),
                            {.tolerance = 1e-7, .unequal_fit = false});
}

RC_GTEST_PROP(SparseIn, ReachesItsStatedShareOtherwise, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 8), count = *rc::gen::inRange<Index>(1, 8),
              k = *rc::gen::inRange<Index>(1, count + 1);
  const Columns columns = any_columns(n, count);
  const Atoms set = sparse_in(columns.dictionary, k);
  exhaustive::check_maximize(*set, exhaustive::any_vector(n), combinations(columns.unit, k),
                             {.tolerance = 1e-7, .share = set->traits().oracle_factor, .contains = false});
}

TEST(Span, HasNoDirectionsThatAreRoundingAlone) {
  // Sums of two columns, the rest of which is rounding, once columns are scaled.
  Matrix D(4, 3);
  D << 0, 0, 0,  //
      2, 2, 0,   //
      2, 0, 2,   //
      2, 1, 1;
  for (Index j = 0; j < 3; ++j) D.col(j) *= std::pow(1e-3, double(j)) / D.col(j).norm();
  Vector u(4);
  span({.columns = D})->maximize(Vector::Constant(4, 3), u);
  EXPECT_LT(max_difference(u, (Vector(4) << 0, 1, 1, 1).finished().normalized()), 1e-12);
}

TEST(Span, FitIsNothingWhereNoColumnReachesWhatWasSeen) {
  Matrix D(3, 2);  // the first entry of their orthonormal basis is rounding
  D << 0, 0,       //
      -2, -1,      //
      -2, -2;
  Vector u(3);
  const Vector first = Vector::Unit(3, 0);
  EXPECT_EQ(span({.columns = D})->fit(first, -3 * first, Sign::free, u), 0);
  EXPECT_TRUE(span({.columns = D})->contains(u));
}

TEST(DictionarySet, TakesTheFirstOfEqualColumns) {
  Matrix D(2, 3);
  D << 1, 0, 1,  //
      0, 1, 0;
  Vector u(2);
  dictionary({.columns = D})->maximize(Vector::Ones(2), u);
  EXPECT_EQ(u, Vector::Unit(2, 0));
}

TEST(DictionarySets, RefuseColumnsWithoutADirection) {
  Matrix D = Matrix::Ones(3, 2);
  D.col(1).setZero();
  EXPECT_THAT(message_of<InvalidArgument>([&] { dictionary({.columns = D, .source = "d.csv"}); }),
              AllOf(HasSubstr("dictionary:d.csv"), HasSubstr("column 2 has norm 0")));
  EXPECT_THAT(message_of<InvalidArgument>([&] { sparse_in({.columns = D}, 1); }),
              HasSubstr("column 2 has norm 0"));
  EXPECT_THAT(message_of<InvalidArgument>([] { span({.columns = Matrix(Matrix::Zero(3, 2))}); }),
              HasSubstr("no column that is not zero"));
  EXPECT_THAT(message_of<InvalidArgument>([] { dictionary({.columns = Matrix(3, 0)}); }),
              HasSubstr("has no columns"));
  EXPECT_THAT(message_of<InvalidArgument>([] { span({.columns = Matrix(3, 0)}); }),
              HasSubstr("has no columns"));
}

TEST(DictionarySets, RefuseDimensionsAndCountsThatDoNotFit) {
  const Dictionary ones{.columns = Matrix(Matrix::Ones(3, 2))};
  EXPECT_THAT(message_of<InvalidArgument>([&] { dictionary(ones)->require_dimension(4); }),
              HasSubstr("is about vectors of 3 entries, and these have 4"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { span(ones)->require_dimension(4); }),
              HasSubstr("these have 4"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { sparse_in(ones, 3)->require_dimension(3); }),
              AllOf(HasSubstr("3 of 2 vectors"), HasSubstr("allowed are 1..2")));
  EXPECT_THAT(message_of<InvalidArgument>([&] { sparse_in(ones, 0); }), HasSubstr("at least 1 vector"));
  EXPECT_THAT(message_of<InvalidArgument>([] { span({.kind = Dictionary::Kind::dct}); }),
              HasSubstr("say sphere"));
}

}  // namespace
}  // namespace pursuit
