#include "linalg/cholesky.hpp"

#include "linalg/decompositions.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

/// A factor of Z^T Z grown one column at a time; every column must be taken.
IncrementalCholesky grown(const Matrix& gram) {
  IncrementalCholesky factor;
  for (Index i = 0; i < gram.cols(); ++i)
    EXPECT_TRUE(factor.append(gram.col(i).head(i), gram(i, i), 1e-10)) << "column " << i;
  return factor;
}

TEST(IncrementalCholesky, SolvesLikeTheFactorizationOfTheWhole) {
  for (const Index r : {1, 2, 7, 30}) {  // beyond the first capacities of 8 and 24
    const Matrix Z = gaussian(60, r, std::uint64_t(r)), gram = Z.transpose() * Z;
    const Vector b = gaussian(r, 1, 9);
    Vector x = b;
    grown(gram).solve_in_place(x);
    EXPECT_LT(max_difference(x, least_squares(gram, b)), 1e-12) << r;
  }
}

TEST(IncrementalCholesky, RefusesADependentVectorAndChangesNothing) {
  const Matrix Z = gaussian(20, 4, 1), gram = Z.transpose() * Z;
  IncrementalCholesky factor = grown(gram);
  const Vector dependent = Z * Vector::Ones(4);
  EXPECT_FALSE(factor.append(Z.transpose() * dependent, dependent.squaredNorm(), 1e-10));
  EXPECT_EQ(factor.size(), 4);
  const Vector b = gaussian(4, 1, 2);
  Vector x = b;
  factor.solve_in_place(x);
  EXPECT_LT(max_difference(x, least_squares(gram, b)), 1e-12);

  const Vector nearly = dependent + 1e-3 * Vector(gaussian(20, 1, 3));  // 1e-6 of it outside the span
  EXPECT_TRUE(factor.append(Z.transpose() * nearly, nearly.squaredNorm(), 1e-10));
  EXPECT_EQ(factor.size(), 5);
}

TEST(IncrementalCholesky, RefusesNothingsAndNaN) {
  IncrementalCholesky factor;
  EXPECT_FALSE(factor.append(Vector(0), 0.0, 1e-10));
  EXPECT_FALSE(factor.append(Vector(0), std::numeric_limits<double>::quiet_NaN(), 1e-10));
  EXPECT_EQ(factor.size(), 0);
  EXPECT_TRUE(factor.append(Vector(0), 4.0, 1e-10));
  factor.clear();
  EXPECT_EQ(factor.size(), 0);
}

}  // namespace
}  // namespace pursuit
