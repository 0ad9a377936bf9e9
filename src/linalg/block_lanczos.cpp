#include "linalg/block_lanczos.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "linalg/blas.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr Index kBlock = 8;
constexpr int kProductsPerTest = 2;  // Ritz values cost an eigendecomposition: not after every product

/// An orthonormal basis of what W adds to the span of Q; columns that add nothing but rounding are dropped.
Matrix orthonormal_addition(const ConstMatrixRef& Q, Matrix W) {
  const Vector lengths = W.colwise().norm();
  for (int pass = 0; pass < 2; ++pass)  // twice is enough (Kahan)
    if (Q.cols() > 0) subtract_product(Q, transposed_product(Q, W), W);
  Index kept = 0;
  for (Index i = 0; i < W.cols(); ++i) {
    Vector w = W.col(i);
    for (int pass = 0; pass < 2; ++pass) w -= W.leftCols(kept) * (W.leftCols(kept).transpose() * w);
    if (w.norm() > 1e-10 * lengths[i]) W.col(kept++) = w.normalized();
  }
  return W.leftCols(kept);
}

/// Order of the wanted Ritz values, best first.
std::vector<Index> ranking(const Vector& values, bool positive_only) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = Index(i);
  const auto key = [&](Index i) { return positive_only ? values[i] : std::abs(values[i]); };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) > key(b); });
  return order;
}

}  // namespace

EigenPairs block_lanczos(Index size, const std::function<void(const Matrix&, Matrix&)>& apply,
                         const BlockLanczosOptions& options) {
  // Legend: Q the orthonormal basis, T = Q^T A Q, X the newest block of Q, whose image is still to be
  // computed. After a restart Q holds the best Ritz vectors, T is diagonal, and X couples to them through its
  // own image.
  const Index keep = options.count + kBlock;
  const Index room = std::min(size, 2 * keep + 24 * kBlock);
  Matrix Q(size, room), T = Matrix::Zero(room, room), W;
  Random random(0);
  Matrix X = orthonormal_addition(Q.leftCols(0), random.gaussian_matrix(size, std::min(kBlock, size)));
  Index filled = 0;        // columns of Q, X included
  double scale = 1;        // of the operator: squares of its entries could overflow or vanish
  bool restarted = false;  // before that, convergence is looked for now and then
  bool invariant = false;  // the Krylov space ended early: there may be more copies of a repeated value
  for (int product = 1;; ++product) {
    Q.middleCols(filled, X.cols()) = X;
    filled += X.cols();
    apply(X, W);
    if (product == 1) scale = std::max(W.lpNorm<Eigen::Infinity>(), std::numeric_limits<double>::min());
    W /= scale;
    const Matrix column = transposed_product(Q.leftCols(filled), W);
    T.block(0, filled - X.cols(), filled, X.cols()) = column;
    T.block(filled - X.cols(), 0, X.cols(), filled) = column.transpose();

    Matrix next = orthonormal_addition(Q.leftCols(filled), W);
    // A Q = Q T + next * coupling on the newest columns: what a Ritz vector's residual is made of.
    const Matrix coupling = next.cols() > 0 ? transposed_product(next, W) : Matrix::Zero(1, X.cols());
    if (next.cols() == 0 && filled < size) {
      invariant = true;
      next = orthonormal_addition(Q.leftCols(filled),
                                  random.gaussian_matrix(size, std::min(kBlock, size - filled)));
    }
    const bool full = filled + next.cols() > room, complete = filled >= size,
               last = product >= options.max_products;
    if (full || complete || last || (!restarted && product % kProductsPerTest == 0)) {
      const Eigen::SelfAdjointEigenSolver<Matrix> solver(T.topLeftCorner(filled, filled));
      const auto order = ranking(solver.eigenvalues(), options.positive_only);
      const auto select = [&](Index count) {
        const std::vector<Index> chosen(order.begin(), order.begin() + std::min<Index>(count, filled));
        return EigenPairs{solver.eigenvectors()(Eigen::all, chosen), solver.eigenvalues()(chosen)};
      };
      const EigenPairs wanted = select(options.count);
      const double worst = (coupling * wanted.vectors.bottomRows(X.cols())).colwise().norm().maxCoeff();
      const bool enough = filled >= options.count && (!invariant || full) &&
                          worst <= options.tolerance * wanted.values.cwiseAbs().maxCoeff();
      if (enough || complete || last) return {Q.leftCols(filled) * wanted.vectors, scale * wanted.values};
      if (full) {  // thick restart
        const EigenPairs best = select(keep);
        Q.leftCols(best.values.size()) = (Q.leftCols(filled) * best.vectors).eval();
        filled = best.values.size();
        T.setZero();
        T.topLeftCorner(filled, filled).diagonal() = best.values;
        restarted = true;
      }
    }
    X = std::move(next);
  }
}

}  // namespace pursuit
