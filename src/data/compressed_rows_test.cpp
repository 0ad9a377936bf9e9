// Products by rows of entries against the explicit matrix, in every shape that is multiplied in its own way.

#include "data/compressed_rows.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

struct Shape {
  Index rows, cols;
  double density;
};

/// Odd sizes; enough entries for tiles of columns; few rows that are long; rows without entries.
const std::vector<Shape> kShapes{{1, 1, 1},        {3, 7, 0.5},       {37, 1, 0.6},    {130, 613, 0.3},
                                 {101, 1050, 0.2}, {5, 30011, 0.5},   {1, 70000, 1},   {30011, 3, 0.8},
                                 {2000, 500, 0},   {1201, 801, 0.01}, {66, 3001, 0.35}};

template <class Scalar, class StoredIndex>
void expect_products_of_the_explicit_matrix(const Shape& shape) {
  const auto [n, m, density] = shape;
  SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(m));
  const Matrix dense = thinned(gaussian(n, m, 1), density, 2).cast<Scalar>().template cast<double>();
  Eigen::SparseMatrix<Scalar, Eigen::RowMajor, StoredIndex> stored = to_sparse(dense).template cast<Scalar>();
  const SparseView<Scalar, StoredIndex> view{stored.outerIndexPtr(), stored.innerIndexPtr(),
                                             stored.valuePtr(), n, m};
  for (const Index width : {1, 8, 31, 70}) {
    const Matrix V = gaussian(m, width, 3), U = gaussian(n, width, 4);
    const Matrix product = dense * V, transposed = dense.transpose() * U;
    Matrix one, one_transposed, out;
    for (const int threads : {1, 2, 3, 16}) {
      const CompressedRows<Scalar, StoredIndex> A(view, threads);
      A.multiply(V, out);
      if (threads == 1) one = out;
      EXPECT_LT(max_difference(out, product), 1e-13 * (1 + dense.norm()) * V.norm()) << width;
      EXPECT_TRUE(same_bits(out, one)) << width << " columns, " << threads << " threads";

      const TransposedCopy<Scalar, StoredIndex> copy(A, threads);
      copy.rows().multiply(U, out);
      if (threads == 1) one_transposed = out;
      EXPECT_LT(max_difference(out, transposed), 1e-13 * (1 + dense.norm()) * U.norm()) << width;
      EXPECT_TRUE(same_bits(out, one_transposed)) << width << " columns, " << threads << " threads";
      A.multiply_transposed(U, out);
      EXPECT_LT(max_difference(out, transposed), 1e-13 * (1 + dense.norm()) * U.norm()) << width;
    }
  }
}

TEST(CompressedRows, ProductsAreThoseOfTheExplicitMatrixForAnyNumberOfThreads) {
  for (const Shape& shape : kShapes) expect_products_of_the_explicit_matrix<double, int>(shape);
  for (const Shape& shape : {kShapes[1], kShapes[3], kShapes[5]}) {
    expect_products_of_the_explicit_matrix<float, int>(shape);
    expect_products_of_the_explicit_matrix<double, std::int64_t>(shape);
    expect_products_of_the_explicit_matrix<float, std::int64_t>(shape);
  }
}

TEST(CompressedRows, AreTransposedTwiceIntoThemselves) {
  for (const Shape& shape : kShapes) {
    const SparseMatrix stored = to_sparse(thinned(gaussian(shape.rows, shape.cols, 5), shape.density, 6));
    const CompressedRows<double, int> A(
        {stored.outerIndexPtr(), stored.innerIndexPtr(), stored.valuePtr(), shape.rows, shape.cols}, 2);
    const TransposedCopy<double, int> once(A, 2), twice(once.rows(), 3);
    const SparseView<double, int>& B = twice.rows().view();
    ASSERT_EQ(twice.rows().entries(), stored.nonZeros());
    EXPECT_TRUE(std::equal(B.start, B.start + shape.rows + 1, stored.outerIndexPtr()));
    EXPECT_TRUE(std::equal(B.index, B.index + stored.nonZeros(), stored.innerIndexPtr()));
    EXPECT_TRUE(std::equal(B.values, B.values + stored.nonZeros(), stored.valuePtr()));
  }
}

TEST(CompressedRows, ChunksHaveAboutAsManyEntriesEach) {
  SparseMatrix skewed(20000, 3000);  // every hundredth row is full
  for (Index i = 0; i < 20000; ++i)
    for (Index j = 0; j < (i % 100 == 0 ? 3000 : 2); ++j) skewed.insert(i, j) = 1;
  skewed.makeCompressed();
  const CompressedRows<double, int> A(
      {skewed.outerIndexPtr(), skewed.innerIndexPtr(), skewed.valuePtr(), 20000, 3000}, 1);
  EXPECT_GE(A.chunks(), 32);
  for (Index c = 0; c < A.chunks(); ++c)
    EXPECT_LE(skewed.outerIndexPtr()[A.first_row(c + 1)] - skewed.outerIndexPtr()[A.first_row(c)],
              2 * skewed.nonZeros() / A.chunks() + 3000);
}

}  // namespace
}  // namespace pursuit
