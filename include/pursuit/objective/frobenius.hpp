#pragma once
// f(X) = 1/2 ||Y - X||_F^2 over sums of rank-one atoms: the Hilbert space of matrices with the Frobenius
// product.
//
// The residual R = Y - U diag(alpha) V^T, which is the negative gradient, is never formed: its product with a
// block W costs one product with Y and O((n + m) r) per column. Inner products of atoms need no matrix at
// all, <u v^T, u' v'^T> = <u, u'> <v, v'>.

#include <memory>

#include "pursuit/data/data_matrix.hpp"
#include "pursuit/objective/expansion.hpp"

namespace pursuit {

class FrobeniusObjective {
 public:
  explicit FrobeniusObjective(DataMatrixPtr data);

  const DataMatrix& data() const { return *data_; }
  Index rows() const { return data_->rows(); }
  Index cols() const { return data_->cols(); }
  double target_norm_squared() const { return target_norm_squared_; }

  /// -grad f at the model, as an operator. Refers to the model: keep it alive and unchanged.
  std::unique_ptr<LinearOperator> residual(const Model& model) const;

  Vector inner_products(const Model& model, ConstVectorRef u, ConstVectorRef v) const;
  Matrix gram(const Model& model) const;

  /// ||Y - X||_F / ||Y||_F from f(X), or entry by entry where f(X) is so small that rounding rules it.
  double relative_error(const Model& model, double objective) const;

 private:
  DataMatrixPtr data_;
  double target_norm_squared_;
};

}  // namespace pursuit
