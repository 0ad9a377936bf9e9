#include "linalg/products.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "pursuit/linalg/axis.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

/// A matrix in either order whose lines have a gap between them, of NaN unless another number is given.
template <class Scalar>
class Stored {
 public:
  Stored(const Matrix& A, bool row_major, Index gap, Scalar between = Scalar(NAN))
      : entries_(std::size_t(((row_major ? A.cols() : A.rows()) + gap) * (row_major ? A.rows() : A.cols())),
                 between),
        view_{entries_.data(), A.rows(), A.cols(), (row_major ? A.cols() : A.rows()) + gap, row_major} {
    for (Index i = 0; i < A.rows(); ++i)
      for (Index j = 0; j < A.cols(); ++j)
        entries_[std::size_t(row_major ? i * view_.stride + j : i + j * view_.stride)] = Scalar(A(i, j));
  }
  const DenseView<Scalar>& view() const { return view_; }

 private:
  std::vector<Scalar> entries_;
  DenseView<Scalar> view_;
};

Matrix plain_product(const Matrix& A, const Matrix& B) {
  Matrix result = Matrix::Zero(A.rows(), B.cols());
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < B.cols(); ++j)
      for (Index k = 0; k < A.cols(); ++k) result(i, j) += A(i, k) * B(k, j);
  return result;
}

template <class Scalar>
void expect_products_of(Index rows, Index cols, Index width) {
  const Matrix A = gaussian(rows, cols, 1).cast<Scalar>().template cast<double>();
  const Matrix V = gaussian(cols, width, 2), expected = plain_product(A, V);
  const Matrix sizes = plain_product(A.cwiseAbs(), V.cwiseAbs());
  const double allowed =
      sizes.size() > 0 ? 20 * double(std::numeric_limits<Scalar>::epsilon()) * sizes.maxCoeff() : 0;
  for (int level = 0; level <= int(kernel_level()); ++level)
    for (const bool row_major : {false, true})
      for (const Index gap : {0, 3}) {
        const Stored<Scalar> stored(A, row_major, gap);
        Matrix wide = Matrix::Constant(rows + 2, width, 7);
        multiply(stored.view(), V, wide.middleRows(1, rows), 1, KernelLevel(level));
        EXPECT_LE(max_difference(wide.middleRows(1, rows), expected), allowed)
            << rows << " x " << cols << " times " << width << ", level " << level << ", by rows " << row_major
            << ", gap " << gap;
        EXPECT_TRUE((wide.row(0).array() == 7).all() && (wide.row(rows + 1).array() == 7).all());
      }
}

template <class Whole>
void expect_bits_of_doubles(Index rows, Index cols, Index width) {
  const double largest = std::min(double(std::numeric_limits<Whole>::max()), 0x1p40);
  const double lowest = std::max(double(std::numeric_limits<Whole>::min()), -largest);
  Matrix A = (0.3 * largest * gaussian(rows, cols, 1)).array().round().cwiseMin(largest).cwiseMax(lowest);
  A(0, 0) = lowest;
  const Matrix V = gaussian(cols, width, 2);
  for (int level = 0; level <= int(kernel_level()); ++level)
    for (const bool row_major : {false, true})
      for (const int threads : {1, 3}) {
        const Stored<double> doubles(A, row_major, 3);
        const Stored<Whole> whole(A, row_major, 3, Whole(7));
        Matrix expected(rows, width), result(rows, width);
        multiply(doubles.view(), V, expected, 1, KernelLevel(level));
        multiply(whole.view(), V, result, threads, KernelLevel(level));
        EXPECT_TRUE(same_bits(result, expected))
            << rows << " x " << cols << " times " << width << ", level " << level << ", by rows " << row_major
            << ", " << sizeof(Whole) << " bytes, " << threads << " threads";
      }
}

TEST(Products, OfWholeNumbersHaveTheBitsOfDoubles) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<Index, Index>>{{1, 1}, {1, 900}, {700, 1}, {67, 133}, {100, 3000}, {1500, 31}})
    for (const Index width : {1, 2, 3, 21}) {
      expect_bits_of_doubles<std::int8_t>(rows, cols, width);
      expect_bits_of_doubles<std::uint16_t>(rows, cols, width);
      expect_bits_of_doubles<std::int64_t>(rows, cols, width);
    }
}

TEST(Products, AreThoseOfPlainLoopsOnOddSizes) {
  for (const Index width : {0, 1, 2, 3, 4, 5, 8, 9, 13, 20, 25, 50}) {
    for (const Index rows : {1, 7, 25}) {
      expect_products_of<double>(rows, 130, width);
      expect_products_of<float>(rows, 130, width);
    }
    for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {9, 0}, {53, 3}, {100, 1}, {131, 129}}) {
      expect_products_of<double>(rows, cols, width);
      expect_products_of<float>(rows, cols, width);
    }
  }
}

TEST(Products, AreRightWhereSumsAreCut) {
  for (const Index width : {1, 2, 6, 27, 195}) {
    expect_products_of<double>(5, 2500, width);
    expect_products_of<float>(5, 2500, width);
    expect_products_of<double>(700, 37, width);
    expect_products_of<float>(700, 37, width);
  }
}

TEST(Products, AreTheSameBitsForAnyNumberOfThreads) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{361, 2429}, {2429, 361}, {3, 40000}, {40000, 3}})
    for (const Index width : {1, 2, 20, 50})
      for (const bool row_major : {false, true}) {
        const Stored<double> stored(gaussian(rows, cols, 3), row_major, 1);
        const Matrix V = gaussian(cols, width, 4);
        Matrix one(rows, width), several(rows, width);
        multiply(stored.view(), V, one, 1);
        for (const int threads : {2, 3, 16}) {
          multiply(stored.view(), V, several, threads);
          EXPECT_EQ(one, several) << rows << " x " << cols << ", " << width << ", threads " << threads;
        }
      }
  const Matrix tall = gaussian(30000, 12, 5), other = gaussian(30000, 7, 6), small = gaussian(12, 7, 7);
  Matrix left = other;
  subtract_product(tall, small, left);
  for (const int threads : {2, 3, 16}) {
    EXPECT_EQ(gram_of(tall), gram_of(tall, threads));
    EXPECT_EQ(transposed_product(tall, other), transposed_product(tall, other, threads));
    Matrix again = other;
    subtract_product(tall, small, again, threads);
    EXPECT_EQ(left, again);
  }
}

TEST(Products, OfSinglePrecisionDataTakePanelsOfAnySize) {
  const Matrix A = uniform(40, 300, 1);
  const Stored<float> stored(A, true, 0);
  for (const Index width : {1, 5})
    for (const double size : {1e-200, 1e60, 1e300}) {
      const Matrix V = uniform(300, width, 2), expected = plain_product(A, V);
      Matrix out(40, width);
      multiply(stored.view(), size * V, out);
      EXPECT_LT(max_difference(out / size, expected), 1e-5 * expected.maxCoeff()) << size;
    }
}

TEST(Products, InSinglePrecisionAltogether) {
  const Matrix A = gaussian(37, 19, 1), V = gaussian(19, 11, 2);
  for (const Index width : {2, 11}) {
    Eigen::MatrixXf out(37, width);
    multiply(Stored<float>(A, true, 2).view(), V.leftCols(width), out);
    EXPECT_LT(max_difference(out.cast<double>(), plain_product(A, V.leftCols(width))), 1e-5);
  }
}

TEST(Products, OfFactorsAreThoseOfPlainLoops) {
  for (const Index n : {1, 50, 1237})
    for (const auto& [r, s] : {std::pair<Index, Index>{1, 1}, {1, 9}, {4, 3}, {20, 20}, {51, 2}, {13, 200}}) {
      const Matrix A = gaussian(n + 3, r, 1), B = gaussian(n + 3, s, 2), C = gaussian(r, s, 3);
      const auto top = A.topRows(n);
      EXPECT_LT(
          max_difference(transposed_product(top, B.topRows(n)), plain_product(top.transpose(), B.topRows(n))),
          1e-12 * double(n));
      const Matrix G = gram_of(top);
      EXPECT_EQ(G, G.transpose());
      EXPECT_LT(max_difference(G, plain_product(top.transpose(), top)), 1e-12 * double(n));
      Matrix out = B;
      subtract_product(top, C, out.topRows(n));
      EXPECT_LT(max_difference(out.topRows(n), B.topRows(n) - plain_product(top, C)), 1e-12);
      EXPECT_EQ(out.bottomRows(3), B.bottomRows(3));
    }
}

TEST(Products, GramsOfManyColumnsAreCutByColumns) {
  const Matrix A = gaussian(30, 401, 1), G = gram_of(A);
  EXPECT_EQ(G, G.transpose());
  EXPECT_LT(max_difference(G, plain_product(A.transpose(), A)), 1e-12);
}

TEST(Axis, SumsAreTheSameBitsForAnyNumberOfThreads) {
  const Matrix X = gaussian(40001, 6, 1), Y = gaussian(40001, 6, 2);
  const Vector one = Axis(40001).dots(X, Y);
  EXPECT_LT(max_difference(one, X.cwiseProduct(Y).colwise().sum().transpose()), 1e-10);
  for (const int threads : {2, 3, 16}) EXPECT_EQ(Axis(40001, threads).dots(X, Y), one) << threads;
}

TEST(Products, TakeFactorsWithoutAtoms) {
  const Matrix none(50, 0), B = gaussian(50, 3, 2);
  EXPECT_EQ(gram_of(none).size(), 0);
  EXPECT_EQ(transposed_product(none, B).rows(), 0);
  EXPECT_EQ(transposed_product(B, none).cols(), 0);
  Matrix out = B;
  subtract_product(none, Matrix(0, 3), out);
  EXPECT_EQ(out, B);
}

}  // namespace
}  // namespace pursuit
