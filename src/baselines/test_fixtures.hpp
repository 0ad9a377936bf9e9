#pragma once
// What the tests of this room share: a classical matrix, and exhaustive search.

#include <algorithm>
#include <bit>
#include <vector>

#include "linalg/decompositions.hpp"
#include "pursuit/baselines/covariance.hpp"
#include "test_support.hpp"

namespace pursuit {

/// Correlations of 13 measurements on 180 pitprops (Jeffers 1967), the common example of sparse PCA.
inline Matrix pitprops() {
  Matrix lower = Matrix::Zero(13, 13);
  // clang-format off
  const double entries[] = {
      1,
      .954, 1,
      .364, .297, 1,
      .342, .284, .882, 1,
      -.129, -.118, -.148, .220, 1,
      .313, .291, .153, .381, .364, 1,
      .496, .503, -.029, .174, .296, .813, 1,
      .424, .419, -.054, -.059, .004, .090, .372, 1,
      .592, .648, .125, .137, -.039, .211, .465, .482, 1,
      .545, .569, -.081, -.014, .037, .274, .679, .557, .526, 1,
      .084, .076, .162, .097, -.091, -.036, -.113, .061, .085, -.319, 1,
      -.019, -.036, .220, .169, -.145, .024, -.232, -.357, -.127, -.368, .029, 1,
      .134, .144, .126, .015, -.208, -.329, -.424, -.202, -.076, -.291, .007, .184, 1};
  // clang-format on
  const double* next = entries;
  for (Index i = 0; i < 13; ++i)
    for (Index j = 0; j <= i; ++j) lower(i, j) = *next++;
  return lower.selfadjointView<Eigen::Lower>();
}

inline double quadratic_form(const Matrix& C, const Vector& u) {
  return u.dot(C * u);
}

/// max of u^T C u over unit u with at most k non-zeros, and without a negative entry where asked for, over
/// all supports. Where all entries of the best u on its support are positive, second-order conditions make it
/// the leading eigenvector there, so only those of one sign count.
inline double best_over_supports(const Matrix& C, Index k, bool nonnegative) {
  double best = C.diagonal().maxCoeff();
  for (unsigned mask = 1; mask < (1U << C.rows()); ++mask) {
    if (std::popcount(mask) > k) continue;
    std::vector<Index> support;
    for (Index i = 0; i < C.rows(); ++i)
      if (mask >> i & 1U) support.push_back(i);
    const SymmetricEigen eigen = symmetric_eigen(Matrix(C(support, support)));
    const Vector leading = eigen.vectors.rightCols(1);
    const bool one_sign = leading.minCoeff() >= 0 || leading.maxCoeff() <= 0;
    if (one_sign || !nonnegative) best = std::max(best, eigen.values.maxCoeff());
  }
  return best;
}

/// A covariance of rank `rank` (before rounding) with variables of unequal weight.
inline Matrix low_rank_covariance(Index p, Index rank, std::uint64_t seed) {
  const Matrix factor = uniform(p, 1, seed + 1).asDiagonal() * gaussian(p, rank, seed);
  return factor * factor.transpose();
}

}  // namespace pursuit
