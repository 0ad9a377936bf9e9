#include "pursuit/baselines/covariance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "linalg/products.hpp"
#include "linalg/unit_blocks.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr std::array<std::pair<const char*, Deflation>, 4> kDeflations{
    {{"hotelling", Deflation::hotelling},
     {"projection", Deflation::projection},
     {"schur", Deflation::schur},
     {"orthogonal-projection", Deflation::orthogonal_projection}}};

Vector diagonal_of_square(const DataMatrix& C) {
  if (C.rows() != C.cols())
    throw InvalidInput(fmt::format("a covariance must be square, not {} x {}", C.rows(), C.cols()));
  Vector result(C.cols());
  Matrix columns;
  for_unit_blocks(C.cols(), [&](Index first, const Matrix& unit) {
    C.apply(unit, columns);
    result.segment(first, unit.cols()) = columns.middleRows(first, unit.cols()).diagonal();
  });
  return result;
}

/// The part of u that is orthogonal to the columns of Q, scaled to unit norm; zero where there is none.
Vector orthogonal_part(const Matrix& Q, ConstVectorRef u) {
  Vector q = u;
  for (int pass = 0; pass < 2 && Q.cols() > 0; ++pass)
    q -= Q * (Q.transpose() * q);  // twice is enough (Kahan)
  const double length = q.norm();
  return length > 1e-10 ? Vector(q / length) : Vector::Zero(u.size());
}

}  // namespace

Covariance::Covariance(DataMatrixPtr base, Vector variances)
    : base_(std::move(base)),
      pairs_(base_->rows(), 0),
      core_(0, 0),
      basis_(base_->rows(), 0),
      variances_(std::move(variances)) {}

Covariance::Covariance(const DataMatrixPtr& C) : Covariance(C, diagonal_of_square(*C)) {}

Covariance Covariance::of_samples(const DataMatrixPtr& samples) {
  if (samples->rows() < 2) throw InvalidInput("a covariance needs at least 2 samples (rows)");
  const DataMatrixPtr A = centered(samples);
  const double scale = 1.0 / double(A->rows() - 1);
  return {gram_matrix(A, scale), scale * squared_column_norms(*A)};
}

Covariance Covariance::watched(std::function<bool()> go_on) const {
  Covariance result = *this;
  result.go_on_ = std::move(go_on);
  return result;
}

void Covariance::apply(const Matrix& V, Matrix& out) const {
  if (go_on_ && !go_on_()) throw ProductRefused();
  base_->apply(V, out);
  if (pairs_.cols() > 0) subtract_product(pairs_, core_ * transposed_product(pairs_, V), out);
}

Covariance Covariance::deflated(ConstVectorRef u, Deflation method) const {
  const bool orthogonal = method == Deflation::orthogonal_projection;
  Matrix pair(rows(), 2), w;
  pair.col(0) = orthogonal ? orthogonal_part(basis_, u) : Vector(u);
  apply(pair.leftCols(1), w);
  pair.col(1) = w;
  const double lambda = pair.col(0).dot(pair.col(1));
  Eigen::Matrix2d S = Eigen::Matrix2d::Zero();
  switch (method) {
    case Deflation::hotelling: S(0, 0) = lambda; break;
    case Deflation::projection:
    case Deflation::orthogonal_projection: S << -lambda, 1, 1, 0; break;
    case Deflation::schur: S(1, 1) = lambda > 0 ? 1 / lambda : 0; break;
  }

  Covariance result = *this;
  const Index old = pairs_.cols();
  result.pairs_.conservativeResize(Eigen::NoChange, old + 2);
  result.pairs_.rightCols(2) = pair;
  result.core_ = Matrix::Zero(old + 2, old + 2);
  result.core_.topLeftCorner(old, old) = core_;
  result.core_.bottomRightCorner(2, 2) = S;
  result.variances_ -= (pair * S).cwiseProduct(pair).rowwise().sum();
  if (orthogonal) {
    result.basis_.conservativeResize(Eigen::NoChange, basis_.cols() + 1);
    result.basis_.rightCols(1) = pair.col(0);
  }
  return result;
}

Matrix deflate_components(Covariance C, Index count, Deflation method,
                          const std::function<Vector(const Covariance&)>& find) {
  Matrix U(C.rows(), count);
  for (Index i = 0; i < count; ++i) {
    U.col(i) = find(C);
    if (i + 1 < count) C = C.deflated(U.col(i), method);
  }
  return U;
}

ExplainedVariance explained_variance(const Covariance& C, const Matrix& loadings) {
  const auto variances = [&](const Matrix& U) {
    Matrix image;
    C.apply(U, image);
    return Vector(U.cwiseProduct(image).colwise().sum().transpose());
  };
  return explained_variance(variances, C.total_variance(), loadings);
}

const char* name(Deflation method) {
  for (const auto& [text, deflation] : kDeflations)
    if (deflation == method) return text;
  return "unknown";
}

Deflation parse_deflation(const std::string& text) {
  for (const auto& [known, deflation] : kDeflations)
    if (text == known) return deflation;
  throw InvalidArgument(fmt::format(
      "deflation '{}': allowed are hotelling, projection, schur and orthogonal-projection", text));
}

}  // namespace pursuit
