#include "linalg/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linalg/block_lanczos.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"

namespace pursuit {
namespace {

constexpr double kRounding = 1e-13;  // relative to the leading value: below it a direction is noise
constexpr Index kSmall = 64;         // up to this size dense decompositions are as fast, and more accurate

bool dense_is_as_fast(Index count, Index size) {
  return 2 * count >= size || size <= kSmall;
}

/// (I - U U^T) A (I - V V^T), for orthonormal U and V.
class Deflated final : public LinearOperator {
 public:
  Deflated(const LinearOperator& A, const Matrix& U, const Matrix& V) : A_(A), U_(U), V_(V) {}
  Index rows() const override { return A_.rows(); }
  Index cols() const override { return A_.cols(); }
  int threads() const override { return A_.threads(); }
  void apply(const Matrix& X, Matrix& out) const override {
    multiply(V_, X, &LinearOperator::apply, U_, out);
  }
  void apply_transposed(const Matrix& X, Matrix& out) const override {
    multiply(U_, X, &LinearOperator::apply_transposed, V_, out);
  }
  void apply_gram(const Matrix& X, Matrix& out) const override {
    if (U_.cols() == 0) return A_.apply_gram(X, out);
    LinearOperator::apply_gram(X, out);
  }

 private:
  using Product = void (LinearOperator::*)(const Matrix&, Matrix&) const;
  void multiply(const Matrix& before, const Matrix& X, Product product, const Matrix& after,
                Matrix& out) const {
    if (before.cols() == 0) return (A_.*product)(X, out);
    const Axis from(X.rows(), threads());
    Matrix rest = X;
    from.subtract(before, from.inner(before, X), rest);
    (A_.*product)(rest, out);
    const Axis to(out.rows(), threads());
    to.subtract(after, to.inner(after, out), out);
  }

  const LinearOperator& A_;
  const Matrix &U_, &V_;
};

/// An orthonormal basis of the span of both; the first is orthonormal already.
Matrix joined(const Axis& axis, const Matrix& first, const Matrix& second) {
  const Matrix addition = orthonormal_addition(axis, first, second);
  Matrix both(first.rows(), first.cols() + addition.cols());
  both << first, addition;
  return both;
}

/// Of values relative to the largest: below it a direction is noise.
double noise_share(const LinearOperator& A) {
  return std::max(kRounding, A.rounding());
}

/// Residuals settle well below the errors of single products, which average out, but not below those of
/// double precision.
double settling_share(const LinearOperator& A) {
  return std::max(0.01 * A.rounding(), 1e-15);
}

/// Of products with what is left of A: relative to that, rounding is anything where larger values were taken
/// out.
double product_rounding(const LinearOperator& A, const Vector& taken_out) {
  return taken_out.size() > 0 ? 1.0 : A.rounding();
}

/// Of a tall matrix whose columns are nearly orthogonal, as images of singular vectors are: by products that
/// all threads share. Others, and small ones, are left to the usual way.
ThinSvd svd_of_image(const Matrix& image, int threads) {
  constexpr Index kTall = 4096;
  constexpr double kNearlyOrthogonal = 0.1;  // reciprocal condition of columns of unit length
  const Axis axis(image.rows(), threads);
  const Vector lengths = axis.norms(image);
  if (image.rows() < kTall || !(lengths.minCoeff() > 0) || !lengths.allFinite()) return thin_svd(image);
  const auto shrink = lengths.cwiseInverse().asDiagonal();
  const Cholesky factor(shrink * axis.inner(image, image) * shrink);
  if (!factor.definite() || !(factor.reciprocal_condition() > kNearlyOrthogonal)) return thin_svd(image);
  const Matrix upper = factor.upper();  // image = Q upper diag(lengths)
  ThinSvd svd = thin_svd(upper * lengths.asDiagonal());
  svd.left = axis.combined(image, shrink * upper.triangularView<Eigen::Upper>().solve(svd.left));
  return svd;
}

/// Triplets of A inside the span of an orthonormal basis of the right side: what squaring cost is regained.
SingularTriplets triplets_within(const LinearOperator& A, const Axis& axis, const Matrix& basis,
                                 bool transposed) {
  Matrix image;
  if (transposed)
    A.apply_transposed(basis, image);
  else
    A.apply(basis, image);
  ThinSvd svd = svd_of_image(image, axis.threads());
  return {std::move(svd.left), axis.combined(basis, svd.right), std::move(svd.values)};
}

void keep_first(Index count, SingularTriplets& t) {
  t.left.conservativeResize(Eigen::NoChange, count);
  t.right.conservativeResize(Eigen::NoChange, count);
  t.values.conservativeResize(count);
}

/// Eigenpairs of C inside the span of an orthonormal basis, best first.
EigenPairs pairs_within(const LinearOperator& C, const Axis& axis, const Matrix& basis, bool positive_only) {
  Matrix image;
  C.apply(basis, image);
  const Matrix T = axis.inner(basis, image);
  const SymmetricEigen eigen = symmetric_eigen(0.5 * (T + T.transpose()));
  const double least = kRounding * eigen.values.lpNorm<Eigen::Infinity>();
  std::vector<Index> order;
  for (Index i = 0; i < eigen.values.size(); ++i)
    if (positive_only ? eigen.values[i] > least : std::abs(eigen.values[i]) > least) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return std::abs(eigen.values[a]) > std::abs(eigen.values[b]); });
  return {axis.combined(basis, Matrix(eigen.vectors(Eigen::all, order))), eigen.values(order)};
}

}  // namespace

KeepGoing asking(Run& run, Index count, double squared_norm) {
  constexpr int kUsualProducts = 100;  // nobody knows how many there will be
  return [&run, count, squared_norm](int products, const Vector& values) {
    return run.step_done(
        {.phase = Moment::Phase::iteration,
         .rank = values.size(),
         .target_rank = count,
         .sweep = products,
         .max_sweeps = kUsualProducts,
         .relative_error = std::sqrt(std::max(0.0, 1 - values.squaredNorm() / squared_norm))});
  };
}

SingularTriplets truncated_svd(const LinearOperator& A, Index count, const KeepGoing& keep_going,
                               double tolerance, Checkpoints* checkpoints) {
  // `right` is the shorter side until the end.
  const bool wide = A.cols() > A.rows();
  const Index shorter = std::min(A.rows(), A.cols());
  count = std::min(count, shorter);
  const Axis axis(shorter, A.threads());
  SingularTriplets found{Matrix(std::max(A.rows(), A.cols()), 0), Matrix(shorter, 0), Vector(0)};
  if (dense_is_as_fast(count, shorter)) {
    found = triplets_within(A, axis, Matrix::Identity(shorter, shorter), wide);
  } else {
    int products = 0;
    const Kept kept(checkpoints, "triplets", [&](StateArchive& archive) {
      archive("products", products);
      archive("values", found.values);
      archive("left", found.left, found.left.rows(), found.values.size());
      archive("right", found.right, shorter, found.values.size());
    });
    const auto watch = [&](int, const Vector& squares) {
      Vector values(std::min(count, found.values.size() + squares.size()));
      values << found.values, squares.head(values.size() - found.values.size()).cwiseMax(0).cwiseSqrt();
      return keep_going(products, values);
    };
    while (found.right.cols() < count && found.converged) {
      const Deflated rest(A, wide ? found.right : found.left, wide ? found.left : found.right);
      const auto gram = [&](const Matrix& X, Matrix& Y) {
        ++products;
        if (!wide) return rest.apply_gram(X, Y);
        Matrix middle;
        rest.apply_transposed(X, middle);
        rest.apply(middle, Y);
      };
      const double noise = found.values.size() > 0 ? noise_share(A) * found.values[0] : 0;
      BlockLanczosOptions options{.count = count - found.right.cols(),
                                  .positive_only = true,
                                  .tolerance = tolerance,
                                  .rounding = settling_share(A),
                                  .product_rounding = product_rounding(A, found.values),
                                  .negligible = noise * noise,
                                  .checkpoints = checkpoints};
      if (keep_going) options.keep_going = watch;
      const LanczosPairs stage = block_lanczos(axis, gram, options);
      if (stage.converged == 0 && !stage.stopped) break;  // only rounding is left
      const Index more = stage.stopped ? stage.pairs.values.size() : stage.converged;
      found = triplets_within(A, axis, joined(axis, found.right, stage.pairs.vectors.leftCols(more)), wide);
      found.converged = !stage.stopped;
    }
  }
  Index kept = 0;
  while (kept < std::min(count, found.values.size()) && found.values[kept] > kRounding * found.values[0])
    ++kept;
  keep_first(kept, found);
  if (wide) std::swap(found.left, found.right);
  return found;
}

EigenPairs leading_eigenpairs(const LinearOperator& C, Index count, bool positive_only,
                              const KeepGoing& keep_going, double tolerance, Checkpoints* checkpoints) {
  const Index size = C.rows();
  count = std::min(count, size);
  const Axis axis(size, C.threads());
  EigenPairs found{Matrix(size, 0), Vector(0)};
  if (dense_is_as_fast(count, size)) {
    found = pairs_within(C, axis, Matrix::Identity(size, size), positive_only);
  } else {
    int products = 0;
    const Kept kept(checkpoints, "pairs", [&](StateArchive& archive) {
      archive("products", products);
      archive("values", found.values);
      archive("vectors", found.vectors, size, found.values.size());
    });
    const auto watch = [&](int, const Vector& values) {
      Vector all(found.values.size() + values.size());
      all << found.values, values;
      return keep_going(products, all);
    };
    while (found.values.size() < count && found.converged) {
      const Deflated rest(C, found.vectors, found.vectors);
      BlockLanczosOptions options{
          .count = count - found.values.size(),
          .positive_only = positive_only,
          .tolerance = tolerance,
          .rounding = settling_share(C),
          .product_rounding = product_rounding(C, found.values),
          .negligible = found.values.size() > 0 ? noise_share(C) * found.values.lpNorm<Eigen::Infinity>() : 0,
          .checkpoints = checkpoints};
      if (keep_going) options.keep_going = watch;
      const LanczosPairs stage = block_lanczos(
          axis,
          [&](const Matrix& X, Matrix& Y) {
            ++products;
            rest.apply(X, Y);
          },
          options);
      if (stage.converged == 0 && !stage.stopped) break;  // only rounding is left
      const Index more = stage.stopped ? stage.pairs.values.size() : stage.converged;
      found = pairs_within(C, axis, joined(axis, found.vectors, stage.pairs.vectors.leftCols(more)),
                           positive_only);
      found.converged = !stage.stopped;
    }
  }
  const Index kept = std::min(count, found.values.size());
  found.vectors.conservativeResize(Eigen::NoChange, kept);
  found.values.conservativeResize(kept);
  return found;
}

}  // namespace pursuit
