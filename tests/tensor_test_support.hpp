#pragma once
// Small arrays of several modes, and what they must be by their definition.

#include <vector>

#include "pursuit/objective/tensor.hpp"
#include "test_support.hpp"

namespace pursuit {

/// An array of any number of modes, its last index running fastest.
struct PlainTensor {
  std::vector<Index> shape;
  std::vector<double> values;

  explicit PlainTensor(std::vector<Index> sizes) : shape(std::move(sizes)) {
    Index count = 1;
    for (const Index size : shape) count *= size;
    values.assign(std::size_t(count), 0.0);
  }
  Index modes() const { return Index(shape.size()); }
  Index count() const { return Index(values.size()); }
  std::vector<Index> position(Index place) const {
    std::vector<Index> at(shape.size());
    for (std::size_t m = shape.size(); m-- > 0; place /= shape[m]) at[m] = place % shape[m];
    return at;
  }
  double norm() const { return Eigen::Map<const Vector>(values.data(), count()).norm(); }
};

inline PlainTensor gaussian_tensor(std::vector<Index> shape, std::uint64_t seed) {
  PlainTensor t(std::move(shape));
  const Matrix values = gaussian(t.count(), 1, seed);
  std::copy_n(values.data(), t.count(), t.values.begin());
  return t;
}

inline PlainTensor dense(const Expansion& x) {
  std::vector<Index> shape;
  for (Index m = 0; m < x.factors.modes(); ++m) shape.push_back(x.factors[m].rows());
  PlainTensor t(shape);
  for (Index e = 0; e < t.count(); ++e) {
    const auto at = t.position(e);
    for (Index k = 0; k < x.rank(); ++k) {
      double term = x.weights[k];
      for (Index m = 0; m < t.modes(); ++m) term *= x.factors[m](at[std::size_t(m)], k);
      t.values[std::size_t(e)] += term;
    }
  }
  return t;
}

inline Factors random_factors(const std::vector<Index>& shape, Index rank, std::uint64_t seed,
                              bool nonnegative = false) {
  std::vector<Panel> panels;
  std::vector<Index> panel_of;
  for (const Index size : shape) {
    panel_of.push_back(Index(panels.size()));
    panels.push_back(nonnegative ? uniform(size, rank, seed++) : gaussian(size, rank, seed++));
  }
  return {std::move(panels), std::move(panel_of)};
}

inline double distance(const PlainTensor& a, const PlainTensor& b) {
  return (Eigen::Map<const Vector>(a.values.data(), a.count()) -
          Eigen::Map<const Vector>(b.values.data(), b.count()))
      .norm();
}

/// Refers to the values.
inline TensorPtr as_dense_target(const PlainTensor& t, int threads = 1) {
  const Index split = balanced_split(t.shape);
  Index rows = 1, columns = 1;
  for (Index m = 0; m < t.modes(); ++m) (m < split ? rows : columns) *= t.shape[std::size_t(m)];
  return dense_tensor(data_matrix(DenseView<double>{t.values.data(), rows, columns, columns, true}, threads),
                      t.shape);
}

/// All entries that are not zero.
inline SparseTensor listed(const PlainTensor& t) {
  SparseTensor sparse{t.shape, std::vector<std::vector<int>>(t.shape.size()), {}};
  for (Index e = 0; e < t.count(); ++e) {
    if (t.values[std::size_t(e)] == 0) continue;
    const auto at = t.position(e);
    for (std::size_t m = 0; m < at.size(); ++m) sparse.index[m].push_back(int(at[m]));
    sparse.value.push_back(t.values[std::size_t(e)]);
  }
  return sparse;
}

}  // namespace pursuit
