#include "linalg/block_lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/chunks.hpp"
#include "base/fresh_pages.hpp"
#include "base/work.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/elementwise.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr Index kBlock = 8;
constexpr int kFirstTest = 4, kLongestWait = 16;  // products; Ritz values cost an eigendecomposition
constexpr double kDependent = 1e-13;              // what is left of a vector below this share is rounding

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
  /// Before the first restart, where Lanczos converges faster and faster.
  int products_left(int product, double excess) {
    const double left = at_the_last_pace(product, excess);
    return left > 0 ? int(std::clamp(std::ceil(0.4 * left), 1.0, double(kLongestWait))) : 2;
  }

  /// Between restarts, one of which comes before long.
  int products_left_after_restarts(int product, double excess) {
    const double left = at_the_last_pace(product, excess);
    return left > 0 && left < kFar ? int(std::max(1.0, std::ceil(0.6 * left))) : kFar;
  }

  static constexpr int kFar = 1000;

  void visit_state(StateArchive& archive) {
    archive("last_excess", last_excess_);
    archive("last_product", last_product_);
  }

 private:
  double at_the_last_pace(int product, double excess) {
    const double per_product = std::log(last_excess_ / excess) / (product - last_product_);
    last_excess_ = excess;
    last_product_ = product;
    return std::log(excess) / per_product;
  }

  double last_excess_ = 0;
  int last_product_ = 0;
};

/// Calls work(first row, count) for pieces of a panel, on all threads.
template <class Work>
void for_rows(const Axis& axis, const Panel& W, const Work& work) {
  constexpr Index kLeast = 512;
  const Chunks rows(W.rows(), kLeast);
  parallel_for(rows.count(), threads_for(kOfANumber * double(W.size()), axis.threads()),
               [&](Index chunk) { work(rows.first(chunk), rows.length(chunk)); });
}

void copy(const Axis& axis, const Panel& from, MatrixRef to) {
  for_rows(axis, from,
           [&](Index first, Index count) { to.middleRows(first, count) = from.middleRows(first, count); });
}

double largest_entry(const Axis& axis, const Panel& W) {
  std::vector<double> largest(std::size_t(W.cols()));
  parallel_for(W.cols(), threads_for(double(W.size()), axis.threads()),
               [&](Index j) { largest[std::size_t(j)] = W.col(j).lpNorm<Eigen::Infinity>(); });
  return *std::max_element(largest.begin(), largest.end());
}

/// W less its components along the orthonormal Q, which are added to `components`.
void take_out(const Axis& axis, const ConstMatrixRef& Q, Panel& W, MatrixRef components) {
  const Matrix along = axis.inner(Q, W);
  axis.subtract(Q, along, W);
  components += along;
}

/// An orthonormal basis of the span of W, whose columns are orthogonal to Q but for rounding; those that are
/// shorter than what rounding left of `lengths` are dropped.
Panel orthonormalized(const Axis& axis, const ConstMatrixRef& Q, const Vector& lengths, Panel W) {
  const auto norm = [&](const Panel& w) { return axis.norms(w)[0]; };
  Index kept = 0;
  for (Index i = 0; i < W.cols(); ++i) {
    Panel w = W.col(i);
    const auto earlier = W.leftCols(kept);
    const double whole = norm(w);
    for (int pass = 0; kept > 0 && pass < 2; ++pass) axis.subtract(earlier, axis.inner(earlier, w), w);
    if (!(norm(w) > kDependent * lengths[i])) continue;
    // Where little is left of a column, rounding errors along Q are a large part of it.
    for (bool clean = norm(w) > 0.1 * whole; !clean;) {
      const double before = norm(w);
      axis.subtract(Q, axis.inner(Q, w), w);
      if (kept > 0) axis.subtract(earlier, axis.inner(earlier, w), w);
      clean = norm(w) > 0.1 * before || !(norm(w) > 0);
    }
    if (const double length = norm(w); length > 0) W.col(kept++) = w / length;
  }
  return W.leftCols(kept);
}

/// Inner products of the columns of a basis, as far as rounding errors and the recurrence that carries them
/// on tell (Simon 1984, for blocks). They are worth a look at the whole basis only where they have grown so
/// far that Ritz values would suffer.
class Overlaps {
 public:
  Overlaps(Index room, double product_rounding, double tolerance)
      : rounding_(std::max(product_rounding, kLeastRounding)),
        allowed_(std::min(kAllowed, kShareOfResiduals * tolerance)),
        inner_(Matrix::Identity(room, room)) {}

  /// Of the first `near` columns with the block that will be made of `rest`: the image of the last columns of
  /// `filled` less `along` times the columns from `near` on. `length` is that of an image at most. Returns
  /// whether they are small enough to be left.
  bool foresee(const Axis& axis, const Matrix& T, Index filled, Index near, const Matrix& along,
               const Panel& rest, double length) {
    constexpr double kWellConditioned = 1e-6;
    const Index width = rest.cols();
    const Cholesky gram(axis.inner(rest, rest));
    if (!gram.definite() || !(gram.reciprocal_condition() > kWellConditioned)) return false;
    next_ = T.topLeftCorner(near, filled) * inner_.block(0, filled - width, filled, width) -
            inner_.block(0, near, near, filled - near) * along;
    const Matrix upper = gram.upper();
    upper.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(next_);
    const double rounding = rounding_ * length / gram.smallest_pivot();
    next_ = next_.unaryExpr([&](double x) { return x + std::copysign(rounding, x); });
    return next_.size() == 0 || next_.lpNorm<Eigen::Infinity>() < allowed_;
  }

  /// The block was made: as foreseen, or orthogonal to all of the basis.
  void add(Index filled, Index width, bool foreseen) {
    auto column = inner_.block(0, filled, filled, width);
    column.setConstant(kLeastRounding);
    if (foreseen) column.topRows(next_.rows()) = next_;
    inner_.block(filled, 0, width, filled) = column.transpose();
    inner_.block(filled, filled, width, width).setIdentity();
  }

  /// The basis becomes combinations of its columns, and the block after it comes behind them.
  void combine(Index filled, Index width, const Matrix& combinations) {
    const Matrix block = combinations.transpose() * inner_.block(0, filled, filled, width);
    const Matrix among = combinations.transpose() * inner_.topLeftCorner(filled, filled) * combinations;
    const Index kept = combinations.cols();
    inner_.topLeftCorner(kept, kept) = among;
    inner_.block(0, kept, kept, width) = block;
    inner_.block(kept, 0, width, kept) = block.transpose();
    inner_.block(kept, kept, width, width).setIdentity();
  }

  void visit_state(StateArchive& archive, Index count) {
    Matrix part = inner_.topLeftCorner(count, count);
    archive("inner", part, count, count);
    inner_.topLeftCorner(count, count) = part;
  }

 private:
  static constexpr double kLeastRounding = 1e-15;
  static constexpr double kAllowed = 1e-10;  // values are right to rounding; residuals are so small at least
  static constexpr double kShareOfResiduals = 0.1;

  double rounding_;  // of an image, relative to its length
  double allowed_;
  Matrix inner_, next_;
};

}  // namespace

Panel orthonormal_addition(const Axis& axis, const ConstMatrixRef& Q, Panel W) {
  const Vector lengths = axis.norms(W);
  for (int pass = 0; pass < 2; ++pass)  // twice is enough (Kahan)
    if (Q.cols() > 0) axis.subtract(Q, axis.inner(Q, W), W);
  return orthonormalized(axis, Q, lengths, std::move(W));
}

LanczosPairs block_lanczos(const Axis& axis, const std::function<void(const Panel&, Panel&)>& apply,
                           const BlockLanczosOptions& options) {
  // Legend: Q the orthonormal basis, T = Q^T A Q, X the newest block of Q, whose image is still to be
  // computed. After a restart Q holds the best Ritz vectors, T is diagonal, and X couples to them through its
  // own image.
  const Index size = axis.size(), keep = std::min(options.count + 4 * kBlock, size - kBlock);
  // The longer the way to a restart, the fewer products; very long vectors are too large for that. More are
  // kept than asked for: of a spectrum without a gap the next ones converge with the wanted ones.
  constexpr Index kLong = 1 << 18, kBlocks = 32, kBlocksOfLong = 18;
  const Index room = std::min(size, 2 * keep + (size < kLong ? kBlocks : kBlocksOfLong) * kBlock);
  Room<double> basis(std::size_t(axis.own() * room));
  Eigen::Map<Panel> Q(basis.data(), axis.own(), room);
  Panel W;
  Matrix T = Matrix::Zero(room, room);
  Overlaps overlaps(room + kBlock, options.product_rounding, options.tolerance);
  bool looked_at = false;  // the newest block, for the first of two times
  Random random(0);
  Panel X = orthonormal_addition(axis, Q.leftCols(0), axis.gaussian(std::min(kBlock, size), random));
  Index filled = 0;  // columns of Q, X included
  Index near = 0;    // the image of X is in the span of the columns of Q from here on, and of new ones
  double scale = 1;  // of the operator: squares of its entries could overflow or vanish
  int restarts = 0;
  Vector found(0);  // values, at the last test
  int next_test = kFirstTest;
  Pace pace;
  bool at_random = false;  // X does not continue the Krylov space
  bool invariant = false;  // the Krylov space ended early: there may be more copies of a repeated value
  int product = 0;
  Index width = 0;         // of X
  bool exhausted = false;  // there is nothing left outside the span of Q
  Panel next;              // what X becomes
  Matrix coupling;         // A Q = Q T + next * coupling on the newest columns: residuals are made of that
  const Kept kept(options.checkpoints, "lanczos", [&](StateArchive& archive) {
    archive("product", product);
    archive("scale", scale);
    archive("filled", filled, 1, room);
    archive("width", width, 1, std::min(kBlock, filled));
    archive("near", near, 0, filled);
    archive("looked_at", looked_at);
    archive("restarts", restarts);
    archive("at_random", at_random);
    archive("invariant", invariant);
    archive("exhausted", exhausted);
    archive("found", found);
    archive("next_test", next_test);
    archive("coupling", coupling, StateArchive::kAny, width);
    archive("next", next, axis.own(), StateArchive::kAny);
    archive.require(next.cols() <= kBlock, "its newest block is too wide");
    archive.require(coupling.rows() <= kBlock, "its coupling is of another block");
    archive.require(scale > 0 && std::isfinite(scale), "its scale is no size");
    Panel columns = Q.leftCols(filled);
    archive("basis", columns, axis.own(), filled);
    Q.leftCols(filled) = columns;
    Matrix image = T.topLeftCorner(filled, filled);
    archive("image", image, filled, filled);
    T.topLeftCorner(filled, filled) = image;
    StateArchive in_random = archive.in("random"), in_pace = archive.in("pace"),
                 in_overlaps = archive.in("overlaps");
    random.visit_state(in_random);
    pace.visit_state(in_pace);
    overlaps.visit_state(in_overlaps, filled + next.cols());
  });

  const auto multiply = [&] {
    ++product;
    width = X.cols();
    copy(axis, X, Q.middleCols(filled, X.cols()));
    filled += X.cols();
    apply(X, W);
    if (product == 1) scale = std::max(largest_entry(axis, W), std::numeric_limits<double>::min());
    for_rows(axis, W, [&](Index first, Index count) { W.middleRows(first, count) /= scale; });
    // A random block whose image is rounding.
    exhausted = at_random && largest_entry(axis, W) <= kDependent;
    at_random = false;

    // What the image cannot contain is there by rounding alone. Where that has grown, one pass more takes it
    // out of the whole basis; where it has not, out of what the image does contain. Another pass follows
    // where so much went that rounding is a part of what is left (Kahan).
    const Vector lengths = axis.norms(W);
    Matrix column = Matrix::Zero(filled, X.cols());
    Panel rest(W.rows(), W.cols());
    copy(axis, W, rest);
    take_out(axis, Q.middleCols(near, filled - near), rest, column.bottomRows(filled - near));
    const bool left_alone =
        near > 0 && !looked_at &&
        overlaps.foresee(axis, T, filled, near, column.bottomRows(filled - near), rest, lengths.maxCoeff());
    looked_at = !left_alone && !looked_at;  // twice, for a block follows from the two before it
    const Index from = left_alone ? near : 0;
    Vector before = axis.norms(rest), after;
    for (int pass = 0; pass < 2; ++pass) {
      Matrix along = Matrix::Zero(filled - from, X.cols());
      take_out(axis, Q.middleCols(from, filled - from), rest, along);
      column.bottomRows(filled - near) += along.bottomRows(filled - near);
      after = axis.norms(rest);
      if ((after.array() > 0.5 * before.array()).all()) break;
      before = after;
    }
    T.block(0, filled - X.cols(), filled, X.cols()) = column;
    T.block(filled - X.cols(), 0, X.cols(), filled) = column.transpose();

    next = orthonormalized(axis, Q.leftCols(filled), lengths, std::move(rest));
    const bool foreseen = left_alone && next.cols() == X.cols();
    if (left_alone && !foreseen) next = orthonormal_addition(axis, Q.leftCols(filled), std::move(next));
    coupling = next.cols() > 0 ? axis.inner(next, W) : Matrix::Zero(1, X.cols());
    near = filled - X.cols();
    if (next.cols() == 0 && filled < size) {
      invariant = at_random = true;
      near = 0;
      next = orthonormal_addition(axis, Q.leftCols(filled),
                                  axis.gaussian(std::min(kBlock, size - filled), random));
    }
    overlaps.add(filled, next.cols(), foreseen);
  };

  for (bool resumed = kept.resumed();; resumed = false) {
    if (!resumed) multiply();
    const bool full = filled + next.cols() > room, complete = filled >= size,
               stop = product >= options.max_products ||
                      (!resumed && options.keep_going && !options.keep_going(product, found));
    if (full || complete || stop || exhausted || product >= next_test) {
      const SymmetricEigen ritz = symmetric_eigen(T.topLeftCorner(filled, filled));
      const auto order = ranking(ritz.values, options.positive_only);
      const auto select = [&](Index count) {
        const std::vector<Index> chosen(order.begin(), order.begin() + std::min<Index>(count, filled));
        return EigenPairs{ritz.vectors(Eigen::all, chosen), ritz.values(chosen)};
      };
      const EigenPairs wanted = select(options.count);
      found = scale * wanted.values;
      const Vector residuals = (coupling * wanted.vectors.bottomRows(width)).colwise().norm().transpose();
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
        return {{axis.combined(Q.leftCols(filled), wanted.vectors), found},
                enough ? in_range : std::min(converged, in_range),
                !enough};
      if (full) {  // thick restart
        const EigenPairs best = select(keep);
        copy(axis, axis.combined(Q.leftCols(filled), best.vectors), Q.leftCols(best.values.size()));
        overlaps.combine(filled, next.cols(), best.vectors);
        filled = best.values.size();
        T.setZero();
        T.topLeftCorner(filled, filled).diagonal() = best.values;
        ++restarts;
        near = 0;
      }
      const double most = excess.maxCoeff();
      next_test = product + (restarts == 0 ? pace.products_left(product, most)
                                           : pace.products_left_after_restarts(product, most));
      if (full && restarts == 1) next_test = product + Pace::kFar;  // that was the pace before
    }
    X.swap(next);
  }
}

}  // namespace pursuit
