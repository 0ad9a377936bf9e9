#include <algorithm>
#include <numeric>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/decompositions.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/oracle/rank_one.hpp"

namespace pursuit {
namespace {

std::vector<Index> heaviest_rows(const Matrix& block, Index count) {
  const Vector weight = block.rowwise().squaredNorm();
  std::vector<Index> order(std::size_t(block.rows()));
  std::iota(order.begin(), order.end(), Index(0));
  count = std::min(count, block.rows());
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](Index a, Index b) { return weight[a] != weight[b] ? weight[a] > weight[b] : a < b; });
  order.resize(std::size_t(count));
  return order;
}

}  // namespace

Matrix starting_block(const LinearOperator& R, int count, std::uint64_t seed) {
  // Two products with the data give everything: a sketch S = R Omega shows the range of R and which rows are
  // heavy, and R^T [Q, heavy unit vectors] shows the leading right directions, the heavy rows themselves and
  // which columns are heavy (Halko, Martinsson and Tropp 2011).
  Random random(seed);
  const Index m = R.cols(), sketch = std::min<Index>({8, m, R.rows()});
  const Index heavy = (count + 3) / 4;
  Matrix S, B;
  R.apply(random.gaussian_matrix(m, sketch), S);
  const Matrix Q = orthonormal_basis(S);
  const auto rows = heaviest_rows(S, heavy);
  Matrix block(R.rows(), Q.cols() + Index(rows.size()));
  block.leftCols(Q.cols()) = Q;
  block.rightCols(Index(rows.size())).setZero();
  for (std::size_t i = 0; i < rows.size(); ++i) block(rows[i], Q.cols() + Index(i)) = 1;
  R.apply_transposed(block, B);
  const Matrix image = B.leftCols(Q.cols());
  const SymmetricEigen eigen = symmetric_eigen(gram_of(image));
  Matrix leading = image * eigen.vectors.rowwise().reverse();
  for (auto direction : leading.colwise()) direction.stableNormalize();  // leaves zero as it is
  const auto columns = heaviest_rows(image, heavy);

  Matrix starts(m, count);
  Index next_direction = 0, row = 0, column = 0;
  for (int s = 0; s < count; ++s) {
    const bool opposite =
        s % 2 == 1;  // odd places look the other way, which matters to sets without symmetry
    switch (s % 8) {
      case 0:
      case 1:
      case 4:
      case 5:
        if (next_direction / 2 < leading.cols()) {
          starts.col(s) = (opposite ? -1.0 : 1.0) * leading.col(next_direction++ / 2);
          continue;
        }
        break;
      case 2:
      case 6:
        if (row < Index(rows.size())) {
          starts.col(s) = B.col(Q.cols() + row++);
          continue;
        }
        break;
      case 3:
        if (column < Index(columns.size())) {
          starts.col(s) = Vector::Unit(m, columns[std::size_t(column++)]);
          continue;
        }
        break;
      default: break;
    }
    if (s % 16 == 15)
      starts.col(s) = random.gaussian_matrix(m, 1);
    else
      starts.col(s) = leading * random.gaussian_matrix(leading.cols(), 1);
  }
  for (Index s = 0; s < count; ++s)
    if (!(starts.col(s).squaredNorm() > 0)) starts.col(s) = random.gaussian_matrix(m, 1);
  return starts;
}

}  // namespace pursuit
