#pragma once
// A covariance matrix known by its products, and what deflation leaves of it.
//
// Methods that find one loading vector u at a time go on with a smaller matrix C' in which u is accounted
// for. For u an eigenvector of C the classical choices agree; for sparse and other structured u they do not
// (Mackey, Deflation methods for sparse PCA, 2009). With w = C u:
//
//   hotelling              C - (u^T w) u u^T            may leave an indefinite matrix; u^T C' u = 0
//   projection             (I - u u^T) C (I - u u^T)    C' u = 0, but an earlier u may come back
//   schur                  C - w w^T / (u^T w)          C' u = 0: what is left after regression on u
//   orthogonal_projection  projection with q, the part of u orthogonal to all earlier u: none comes back
//
// Every one of them subtracts [u w] S [u w]^T with a 2 x 2 matrix S, so C' is C with a list of such pairs and
// is never formed: after t deflations a product costs one with the data and O(p t) more per column.

#include <functional>
#include <string>

#include "pursuit/algorithms/explained_variance.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

enum class Deflation { hotelling, projection, schur, orthogonal_projection };

class Covariance final : public LinearOperator {
 public:
  /// C as it is: symmetric and positive semidefinite. Its diagonal costs a product with the identity.
  explicit Covariance(const DataMatrixPtr& C);

  /// The covariance of the columns of `samples` (centred, over n - 1), never formed. Needs n >= 2. Its
  /// diagonal costs a product of the samples with the smaller of the two identities.
  static Covariance of_samples(const DataMatrixPtr& samples);

  Index rows() const override { return base_->rows(); }
  Index cols() const override { return base_->cols(); }
  void apply(const Matrix& V, Matrix& out) const override;
  void apply_transposed(const Matrix& U, Matrix& out) const override { apply(U, out); }

  const Vector& variances() const { return variances_; }  // the diagonal
  double total_variance() const { return variances_.sum(); }

  /// The same matrix, whose products, and those of what deflation leaves of it, throw ProductRefused once
  /// `go_on` says no: every method here is made of products, so that this is where a run can be stopped.
  Covariance watched(std::function<bool()> go_on) const;
  struct ProductRefused {};

  /// What is left once the unit vector u is accounted for.
  Covariance deflated(ConstVectorRef u, Deflation method) const;

 private:
  Covariance(DataMatrixPtr base, Vector variances);

  DataMatrixPtr base_;
  Matrix pairs_, core_;  // C = base - pairs core pairs^T
  Matrix basis_;         // orthonormal, spans what orthogonal projections have removed
  Vector variances_;
  std::function<bool()> go_on_;
};

/// `count` loadings one by one: each is what `find` makes of the covariance that the earlier ones leave.
Matrix deflate_components(Covariance C, Index count, Deflation method,
                          const std::function<Vector(const Covariance&)>& find);

ExplainedVariance explained_variance(const Covariance& C, const Matrix& loadings);

/// "hotelling", "projection", "schur", "orthogonal-projection"; InvalidArgument for any other text.
const char* name(Deflation method);
Deflation parse_deflation(const std::string& text);

}  // namespace pursuit
