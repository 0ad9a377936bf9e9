#include "linalg/block_lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr Index kBlock = 8;
constexpr int kFirstTest = 4, kLongestWait = 8;  // products; Ritz values cost an eigendecomposition
constexpr double kDependent = 1e-13;             // what is left of a vector below this share is rounding

/// Order of the wanted Ritz values, best first.
std::vector<Index> ranking(const Vector& values, bool positive_only) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = Index(i);
  const auto key = [&](Index i) { return positive_only ? values[i] : std::abs(values[i]); };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) > key(b); });
  return order;
}

/// How fast the largest excess over a tolerance falls, and so when it is worth looking at again.
class Pace {
 public:
  int products_left(int product, double excess) {
    const double per_product = std::log(last_excess_ / excess) / (product - last_product_);
    last_excess_ = excess;
    last_product_ = product;
    if (!(per_product > 0)) return 2;
    const double left = std::log(excess) / per_product;  // or less: Lanczos converges faster and faster
    return int(std::clamp(std::ceil(0.4 * left), 1.0, double(kLongestWait)));
  }

 private:
  double last_excess_ = 0;
  int last_product_ = 0;
};

}  // namespace

Matrix orthonormal_addition(const ConstMatrixRef& Q, Matrix W) {
  const Vector lengths = W.colwise().norm();
  for (int pass = 0; pass < 2; ++pass)  // twice is enough (Kahan)
    if (Q.cols() > 0) subtract_product(Q, transposed_product(Q, W), W);
  Index kept = 0;
  for (Index i = 0; i < W.cols(); ++i) {
    Vector w = W.col(i);
    const auto earlier = W.leftCols(kept);
    for (int pass = 0; pass < 2; ++pass) w -= earlier * (earlier.transpose() * w);
    if (!(w.norm() > kDependent * lengths[i])) continue;
    // Where little is left of a column, rounding errors along Q are a large part of it.
    for (bool clean = w.norm() > 0.1 * W.col(i).norm(); !clean;) {
      const double before = w.norm();
      w -= Q * (Q.transpose() * w);
      w -= earlier * (earlier.transpose() * w);
      clean = w.norm() > 0.1 * before || !(w.norm() > 0);
    }
    if (w.norm() > 0) W.col(kept++) = w.normalized();
  }
  return W.leftCols(kept);
}

LanczosPairs block_lanczos(Index size, const std::function<void(const Matrix&, Matrix&)>& apply,
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
  Vector found(0);         // values, at the last test
  int next_test = kFirstTest;
  Pace pace;
  bool at_random = false;  // X does not continue the Krylov space
  bool invariant = false;  // the Krylov space ended early: there may be more copies of a repeated value
  for (int product = 1;; ++product) {
    Q.middleCols(filled, X.cols()) = X;
    filled += X.cols();
    apply(X, W);
    if (product == 1) scale = std::max(W.lpNorm<Eigen::Infinity>(), std::numeric_limits<double>::min());
    W /= scale;
    // A random block whose image is rounding: there is nothing left outside the span of Q.
    const bool exhausted = at_random && W.lpNorm<Eigen::Infinity>() <= kDependent;
    at_random = false;
    const Matrix column = transposed_product(Q.leftCols(filled), W);
    T.block(0, filled - X.cols(), filled, X.cols()) = column;
    T.block(filled - X.cols(), 0, X.cols(), filled) = column.transpose();

    Matrix next = orthonormal_addition(Q.leftCols(filled), W);
    // A Q = Q T + next * coupling on the newest columns: what a Ritz vector's residual is made of.
    const Matrix coupling = next.cols() > 0 ? transposed_product(next, W) : Matrix::Zero(1, X.cols());
    if (next.cols() == 0 && filled < size) {
      invariant = at_random = true;
      next = orthonormal_addition(Q.leftCols(filled),
                                  random.gaussian_matrix(size, std::min(kBlock, size - filled)));
    }
    const bool full = filled + next.cols() > room, complete = filled >= size,
               stop = product >= options.max_products ||
                      (options.keep_going && !options.keep_going(product, found));
    if (full || complete || stop || exhausted || (!restarted && product >= next_test)) {
      const SymmetricEigen ritz = symmetric_eigen(T.topLeftCorner(filled, filled));
      const auto order = ranking(ritz.values, options.positive_only);
      const auto select = [&](Index count) {
        const std::vector<Index> chosen(order.begin(), order.begin() + std::min<Index>(count, filled));
        return EigenPairs{ritz.vectors(Eigen::all, chosen), ritz.values(chosen)};
      };
      const EigenPairs wanted = select(options.count);
      found = scale * wanted.values;
      const Vector residuals = (coupling * wanted.vectors.bottomRows(X.cols())).colwise().norm().transpose();
      const Vector sizes = options.positive_only ? wanted.values : wanted.values.cwiseAbs();
      const double largest = wanted.values.lpNorm<Eigen::Infinity>();
      const double least = std::max(options.range * largest, options.negligible / scale);
      const Index in_range = (sizes.array() > least).count();  // the first of them: sizes descend
      Vector excess(sizes.size());                             // residuals over what is allowed
      for (Index i = 0; i < sizes.size(); ++i)
        excess[i] = residuals[i] / std::max({options.tolerance * (i < in_range ? sizes[i] : largest),
                                             options.rounding * largest, options.negligible / scale});
      Index converged = 0;
      while (converged < sizes.size() && excess[converged] <= 1) ++converged;
      const bool enough = complete || (filled >= options.count && (!invariant || full || exhausted) &&
                                       converged == options.count);
      if (enough || stop)
        return {{Q.leftCols(filled) * wanted.vectors, found},
                enough ? in_range : std::min(converged, in_range),
                !enough};
      if (full) {  // thick restart
        const EigenPairs best = select(keep);
        Q.leftCols(best.values.size()) = (Q.leftCols(filled) * best.vectors).eval();
        filled = best.values.size();
        T.setZero();
        T.topLeftCorner(filled, filled).diagonal() = best.values;
        restarted = true;
      }
      next_test = product + pace.products_left(product, excess.maxCoeff());
    }
    X = std::move(next);
  }
}

}  // namespace pursuit
