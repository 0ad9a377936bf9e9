#include "completion/draw_average.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/cholesky.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"

namespace pursuit {
namespace {

constexpr Index kRowsAtOnce = 128;
constexpr Index kMostParts = 32;  // of a sum of Gram matrices, each of which takes memory
constexpr int kIterations = 2;    // from the coordinates of before, which a few draws hardly change

DenseView<double> view_of(const Matrix& A) {
  return {A.data(), A.rows(), A.cols(), A.outerStride()};
}

Matrix product(const DenseView<double>& A, const Matrix& B, int threads) {
  Matrix result(A.rows, B.cols());
  const Chunks columns(B.cols(), 8);
  parallel_for(columns.count(), threads, [&](Index chunk) {
    const Index first = columns.first(chunk), count = columns.length(chunk);
    multiply(A, B.middleCols(first, count), result.middleCols(first, count));
  });
  return result;
}

/// Rows of a panel times a matrix, in its place.
void transform(Eigen::MatrixXf& factors, Index used, const Matrix& map, int threads) {
  const Chunks chunks(factors.rows(), kRowsAtOnce);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    const Index first = chunks.first(chunk), count = chunks.length(chunk);
    Eigen::MatrixXf moved(count, map.cols());
    multiply(DenseView<float>{factors.data() + first, count, used, factors.outerStride()}, map, moved);
    factors.block(first, 0, count, map.cols()) = moved;
  });
}

/// A = B S with B of orthonormal columns, from A^T A: S, and what A is multiplied by to become B.
struct OrthonormalParts {
  Matrix size, to_basis;
};
OrthonormalParts orthonormal_parts(const Matrix& gram) {
  constexpr double kNothing = 1e-12;  // of the largest: rounding
  const SymmetricEigen eigen = symmetric_eigen(gram);
  const double largest = std::max(eigen.values.size() > 0 ? eigen.values.maxCoeff() : 0.0, 0.0);
  std::vector<Index> kept;
  for (Index k = 0; k < gram.rows(); ++k)
    if (eigen.values[k] > kNothing * largest) kept.push_back(k);
  const Matrix vectors = eigen.vectors(Eigen::all, kept);
  const Vector root = eigen.values(kept).cwiseSqrt();
  return {root.asDiagonal() * vectors.transpose(), vectors * root.cwiseInverse().asDiagonal()};
}

/// What A is multiplied by to have orthonormal columns of the same span, from A^T A.
Matrix to_orthonormal(const Matrix& gram) {
  const Cholesky factor(gram);
  if (!factor.definite() || !(factor.reciprocal_condition() > 1e-10)) return orthonormal_parts(gram).to_basis;
  return factor.upper().triangularView<Eigen::Upper>().solve(Matrix::Identity(gram.rows(), gram.rows()));
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
  if (used_ + atoms > rows_.factors.cols()) cut();
  append(draw.rows(), draw.width(), atoms, rows_);
  append(draw.cols(), draw.width(), atoms, cols_);
  used_ += atoms;
}

Matrix DrawAverage::gram(const Panel& panel) const {
  const Chunks chunks(panel.factors.rows(), kRowsAtOnce, kMostParts);
  std::vector<Matrix> parts(std::size_t(chunks.count()));
  parallel_for(chunks.count(), threads_, [&](Index chunk) {
    Matrix& sum = parts[std::size_t(chunk)] = Matrix::Zero(used_, used_);
    for (Index first = chunks.first(chunk), end = chunks.first(chunk + 1); first < end;) {
      const Index count = std::min(2 * kRowsAtOnce, end - first);
      sum += gram_of(panel.factors.block(first, 0, count, used_).cast<double>().eval());
      first += count;
    }
  });
  const Chunks columns(used_, 4);
  parallel_for(columns.count(), threads_, [&](Index chunk) {
    std::vector<Matrix*> all;
    all.reserve(parts.size());
    for (Matrix& part : parts) all.push_back(&part);
    tree_sum(all, [&](Matrix* into, const Matrix* part) {
      into->middleCols(columns.first(chunk), columns.length(chunk)) +=
          part->middleCols(columns.first(chunk), columns.length(chunk));
    });
  });
  return std::move(parts.front());
}

// For M = R C^T, R and C the panels, everything is said by R^T R and C^T C: coordinates W of a basis R W turn
// into those of its image M^T R W = C (R^T R W), and the other way round. So M is projected on a basis that
// was multiplied by M M^T a few times, which begins as the one that the columns were cut back to before.
void DrawAverage::cut() {
  const Matrix of_rows = gram(rows_), of_cols = gram(cols_);
  const Index first = std::min(rank_, used_);
  Matrix image = of_cols.leftCols(first), map = to_orthonormal(of_cols.topLeftCorner(first, first));
  for (int half = 1; half < 2 * kIterations; ++half) {
    const Matrix next = product(view_of(image), map, threads_);
    image = product(view_of(half % 2 == 1 ? of_rows : of_cols), next, threads_);
    map = to_orthonormal(product(view_of(next).transposed(), image, threads_));
    if (half == 2 * kIterations - 1)
      transform(rows_.factors, used_, product(view_of(next), map, threads_), threads_);
  }
  transform(cols_.factors, used_, product(view_of(image), map, threads_), threads_);
  used_ = map.cols();
}

/// Turned to the singular vectors, both sides of equal size.
void DrawAverage::balance() {
  const auto [row_size, to_row_basis] = orthonormal_parts(gram(rows_));
  const auto [col_size, to_col_basis] = orthonormal_parts(gram(cols_));
  const ThinSvd parts = thin_svd(row_size * col_size.transpose());
  const Vector root = parts.values.cwiseSqrt();
  transform(rows_.factors, used_, to_row_basis * parts.left * root.asDiagonal(), threads_);
  transform(cols_.factors, used_, to_col_basis * parts.right * root.asDiagonal(), threads_);
  used_ = root.size();
}

std::pair<FactorMatrix, FactorMatrix> DrawAverage::factors() {
  if (used_ > rank_) cut();
  balance();
  const auto finished = [&](const Panel& panel, double share) {
    FactorMatrix result(panel.factors.rows(), used_ + 1);
    const Chunks members(result.rows());
    parallel_for(members.count(), threads_, [&](Index chunk) {
      const Index first = members.first(chunk), count = members.length(chunk);
      result.col(0).segment(first, count) =
          (panel.offset.segment(first, count) / double(count_)).cast<float>();
      result.block(first, 1, count, used_) = float(share) * panel.factors.block(first, 0, count, used_);
    });
    return result;
  };
  return {finished(rows_, 1.0 / double(count_)), finished(cols_, 1.0)};
}

void DrawAverage::visit_state(StateArchive& archive, Index rows, Index cols, Index atoms) {
  archive("count", count_);
  if (count_ == 0) return;
  archive("rank", rank_, 2 * atoms + 1, 2 * atoms + 1);
  const Index room = rank_ + 3 * atoms;
  archive("used", used_, 0, room);
  for (const auto& [panel, size] : {std::pair(&rows_, rows), {&cols_, cols}}) {
    StateArchive own = archive.in(panel == &rows_ ? "rows" : "cols");
    own("offset", panel->offset, size);
    const auto numbers = std::size_t(size * used_);
    std::vector<float> filled;  // what is behind it has no meaning yet
    if (!archive.reads()) filled.assign(panel->factors.data(), panel->factors.data() + numbers);
    own("factors", filled, Index(numbers));
    if (!archive.reads()) continue;
    panel->factors.resize(size, room);
    std::copy(filled.begin(), filled.end(), panel->factors.data());
  }
}

}  // namespace pursuit
