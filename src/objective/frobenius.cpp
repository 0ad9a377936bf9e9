#include "pursuit/objective/frobenius.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/blas.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

class Residual final : public LinearOperator {
 public:
  Residual(const DataMatrix& data, const Model& model) : data_(data), model_(model) {}
  Index rows() const override { return data_.rows(); }
  Index cols() const override { return data_.cols(); }
  void apply(const Matrix& V, Matrix& out) const override {
    data_.apply(V, out);
    subtract(model_.left, model_.right, V, out);
  }
  void apply_transposed(const Matrix& U, Matrix& out) const override {
    data_.apply_transposed(U, out);
    subtract(model_.right, model_.left, U, out);
  }

 private:
  void subtract(const Matrix& outer, const Matrix& inner, const Matrix& block, Matrix& out) const {
    if (model_.rank() == 0) return;
    subtract_product(outer, model_.weights.asDiagonal() * transposed_product(inner, block), out);
  }

  const DataMatrix& data_;
  const Model& model_;
};

}  // namespace

FrobeniusObjective::FrobeniusObjective(DataMatrixPtr data)
    : data_(std::move(data)), target_norm_squared_(data_->squared_norm()) {
  if (!std::isfinite(target_norm_squared_))
    throw InvalidInput("the squared norm of the matrix overflows; divide the matrix by a large number first");
}

std::unique_ptr<LinearOperator> FrobeniusObjective::residual(const Model& model) const {
  return std::make_unique<Residual>(*data_, model);
}

Vector FrobeniusObjective::inner_products(const Model& model, ConstVectorRef u, ConstVectorRef v) const {
  return (model.left.transpose() * u).cwiseProduct(model.right.transpose() * v);
}

Matrix FrobeniusObjective::gram(const Model& model) const {
  return gram_of(model.left).cwiseProduct(gram_of(model.right));
}

double FrobeniusObjective::relative_error(const Model& model, double objective) const {
  if (target_norm_squared_ == 0) return 0;
  const double squared = 2 * objective / target_norm_squared_;
  if (squared < 1e-4)  // f of single-precision data carries rounding errors of about 1e-7
    if (const auto direct = data_->squared_distance(model.scaled_left(), model.right))
      return std::sqrt(*direct / target_norm_squared_);
  return std::sqrt(std::max(squared, 0.0));
}

}  // namespace pursuit
