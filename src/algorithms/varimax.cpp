#include "algorithms/varimax.hpp"

#include "base/chunks.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"

namespace pursuit {
namespace {

constexpr int kMostIterations = 200;
constexpr Index kFewColumns = 16;  // so that fourth moments take less than the iterations that they spare

/// L^T (X^3 entry by entry), X = L rotation, for one rotation after the other. Of few columns it follows from
/// the fourth moments of the rows of L, which are found once; X itself may be as large as the data, and only
/// sums over its rows are kept.
class Cubes {
 public:
  Cubes(const Matrix& L, int threads) : L_(L), threads_(threads) {
    if (L.cols() <= kFewColumns)
      moments_ = sum_over_rows([](const auto& rows) -> Matrix {
        const Matrix pairs = pairs_of(rows, 1);
        return pairs.transpose() * pairs;
      });
  }

  Matrix under(const Matrix& rotation) const {
    if (L_.cols() > kFewColumns)
      return sum_over_rows([&](const auto& rows) -> Matrix {
        return rows.transpose() * (rows * rotation).array().cube().matrix();
      });
    const Index r = L_.cols();
    const Matrix squares =
        moments_ * pairs_of(rotation.transpose(), 2).transpose();  // sums of l_a l_b x^2, for each x
    Matrix result = Matrix::Zero(r, r);
    for (Index c = 0; c < r; ++c)
      for (Index a = 0, pair = 0; a < r; ++a)
        for (Index b = a; b < r; ++b, ++pair) {
          result(a, c) += squares(pair, c) * rotation(b, c);
          if (b != a) result(b, c) += squares(pair, c) * rotation(a, c);
        }
    return result;
  }

 private:
  template <class Part>
  Matrix sum_over_rows(const Part& part) const {
    return chunked_sum<Matrix>(Chunks(L_.rows()), threads_, [&](Index first, Index count) -> Matrix {
      return part(L_.middleRows(first, count));
    });
  }

  /// Products of two numbers of every row; those of two different ones times `both`.
  template <class Rows>
  static Matrix pairs_of(const Rows& rows, double both) {
    const Index r = rows.cols();
    Matrix pairs(rows.rows(), r * (r + 1) / 2);
    for (Index a = 0, pair = 0; a < r; ++a)
      for (Index b = a; b < r; ++b, ++pair)
        pairs.col(pair) = (a == b ? 1 : both) * rows.col(a).cwiseProduct(rows.col(b));
    return pairs;
  }

  const Matrix& L_;
  int threads_;
  Matrix moments_;  // of pairs of columns with pairs of columns
};

}  // namespace

Matrix varimax_rotation(const Matrix& L, Matrix rotation, int threads) {
  // The slope is L^T (X^3 - X diag(means)).
  const Cubes cubes(L, threads);
  const Matrix G = gram_of(L, threads);
  double last = 0;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const Matrix image = G * rotation;
    const Vector means = rotation.cwiseProduct(image).colwise().sum().transpose() / double(L.rows());
    const ThinSvd svd = thin_svd(cubes.under(rotation) - image * means.asDiagonal());
    rotation = svd.left * svd.right.transpose();
    const double value = svd.values.sum();
    if (value <= last * (1 + 1e-7)) break;
    last = value;
  }
  return rotation;
}

}  // namespace pursuit
