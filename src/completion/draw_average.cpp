#include "completion/draw_average.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/decompositions.hpp"

namespace pursuit {
namespace {

constexpr Index kRowsAtOnce = 1024;

/// Rows of a panel times a matrix, in its place.
void transform(Eigen::MatrixXf& factors, Index used, const Matrix& map, int threads) {
  const Eigen::MatrixXf narrow = map.cast<float>();
  const Chunks chunks(factors.rows(), kRowsAtOnce);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    const Index first = chunks.first(chunk), count = chunks.first(chunk + 1) - first;
    const Eigen::MatrixXf moved = factors.block(first, 0, count, used) * narrow;
    factors.block(first, 0, count, map.cols()) = moved;
  });
}

/// A = B S with B of orthonormal columns, from A^T A: returns S and what A is multiplied by to become B.
std::pair<Matrix, Matrix> orthonormal_parts(const Matrix& gram) {
  constexpr double kNothing = 1e-12;  // of the largest: rounding
  const SymmetricEigen eigen = symmetric_eigen(gram);
  const double largest = std::max(eigen.values.maxCoeff(), 0.0);
  std::vector<Index> kept;
  for (Index k = 0; k < gram.rows(); ++k)
    if (eigen.values[k] > kNothing * largest) kept.push_back(k);
  Matrix size(Index(kept.size()), gram.rows()), to_basis(gram.rows(), Index(kept.size()));
  for (Index k = 0; k < Index(kept.size()); ++k) {
    const double root = std::sqrt(eigen.values[kept[std::size_t(k)]]);
    size.row(k) = root * eigen.vectors.col(kept[std::size_t(k)]).transpose();
    to_basis.col(k) = eigen.vectors.col(kept[std::size_t(k)]) / root;
  }
  return {size, to_basis};
}

}  // namespace

void DrawAverage::append(const FactorSide& side, Index width, Index atoms, Panel& panel) const {
  const Chunks members(side.size());
  parallel_for(members.count(), threads_, [&](Index chunk) {
    for (Index i = members.first(chunk); i < members.first(chunk + 1); ++i) {
      panel.offset[i] += side.mean[i * width];
      for (Index c = 0; c < atoms; ++c) panel.factors(i, used_ + c) = side.mean[i * width + 1 + c];
    }
  });
}

void DrawAverage::add(const BayesianFactors& draw) {
  const Index atoms = draw.atoms();
  if (count_++ == 0) {
    rank_ = 2 * atoms + 1;
    for (const auto& [panel, side] : {std::pair(&rows_, &draw.rows()), {&cols_, &draw.cols()}}) {
      panel->factors.resize(side->size(), rank_ + 3 * atoms);
      panel->offset = Vector::Zero(side->size());
    }
  }
  if (used_ + atoms > rows_.factors.cols()) cut(rank_);
  append(draw.rows(), draw.width(), atoms, rows_);
  append(draw.cols(), draw.width(), atoms, cols_);
  used_ += atoms;
}

Matrix DrawAverage::gram(const Panel& panel) const {
  return chunked_sum<Matrix>(Chunks(panel.factors.rows(), kRowsAtOnce), threads_,
                             [&](Index first, Index count) {
                               const Matrix part = panel.factors.block(first, 0, count, used_).cast<double>();
                               return Matrix(part.transpose() * part);
                             });
}

void DrawAverage::cut(Index rank) {
  const auto [row_size, to_row_basis] = orthonormal_parts(gram(rows_));
  const auto [col_size, to_col_basis] = orthonormal_parts(gram(cols_));
  const Index most = std::min({rank, row_size.rows(), col_size.rows()});
  if (most == 0) {
    used_ = 0;
    return;
  }
  const ThinSvd parts = thin_svd(row_size * col_size.transpose());
  const Vector root = parts.values.head(most).cwiseSqrt();
  transform(rows_.factors, used_, to_row_basis * parts.left.leftCols(most) * root.asDiagonal(), threads_);
  transform(cols_.factors, used_, to_col_basis * parts.right.leftCols(most) * root.asDiagonal(), threads_);
  used_ = most;
}

std::pair<FactorMatrix, FactorMatrix> DrawAverage::factors() {
  if (used_ > rank_) cut(rank_);
  const auto finished = [&](const Panel& panel, double share) {
    FactorMatrix result(panel.factors.rows(), used_ + 1);
    result.col(0) = (panel.offset / double(count_)).cast<float>();
    result.rightCols(used_) = float(share) * panel.factors.leftCols(used_);
    return result;
  };
  return {finished(rows_, 1.0 / double(count_)), finished(cols_, 1.0)};
}

}  // namespace pursuit
