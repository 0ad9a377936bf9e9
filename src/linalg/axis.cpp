#include "pursuit/linalg/axis.hpp"

#include <algorithm>
#include <numeric>

#include "base/chunks.hpp"
#include "base/work.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"

namespace pursuit {

Matrix Axis::inner(const ConstMatrixRef& X, const ConstMatrixRef& Y) const {
  return transposed_product(X, Y, threads());
}

Vector Axis::dots(const ConstMatrixRef& X, const ConstMatrixRef& Y) const {
  constexpr Index kLeast = 4096;
  return chunked_sum<Vector>(Chunks(X.rows(), kLeast), threads_for(double(X.size()), threads()),
                             [&](Index first, Index count) -> Vector {
                               return X.middleRows(first, count)
                                   .cwiseProduct(Y.middleRows(first, count))
                                   .colwise()
                                   .sum()
                                   .transpose();
                             });
}

Panel Axis::combined(const ConstMatrixRef& X, const ConstMatrixRef& S) const {
  Panel sums(X.rows(), S.cols());
  multiply(DenseView<double>{X.data(), X.rows(), X.cols(), X.outerStride()}, S, sums, threads());
  return sums;
}

void Axis::subtract(const ConstMatrixRef& X, const ConstMatrixRef& S, MatrixRef Y) const {
  subtract_product(X, S, Y, threads());
}

Panel Axis::orthonormal(const Panel& block) const {
  return orthonormal_basis(block);
}

Panel Axis::gaussian(Index columns, Random& random) const {
  return random.gaussian_rows(first(), own(), columns);
}

std::vector<Index> Axis::heaviest(const Panel& X, Index count) const {
  Vector weight(X.rows());
  const Chunks chunks(X.rows(), 4096);
  parallel_for(chunks.count(), threads_for(double(X.size()), threads()), [&](Index chunk) {
    const Index start = chunks.first(chunk), length = chunks.length(chunk);
    weight.segment(start, length) = X.middleRows(start, length).rowwise().squaredNorm();
  });
  std::vector<Index> order(std::size_t(X.rows()));
  std::iota(order.begin(), order.end(), Index(0));
  count = std::min(count, X.rows());
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](Index a, Index b) { return weight[a] != weight[b] ? weight[a] > weight[b] : a < b; });
  order.resize(std::size_t(count));
  return order;
}

Panel Axis::units(const std::vector<Index>& places) const {
  Panel result = Panel::Zero(own(), Index(places.size()));
  for (std::size_t k = 0; k < places.size(); ++k)
    if (const Index i = places[k] - first(); i >= 0 && i < own()) result(i, Index(k)) = 1;
  return result;
}

}  // namespace pursuit
