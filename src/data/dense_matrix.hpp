#pragma once
#include "linalg/blas.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// A dense matrix in either storage order; products by OpenBLAS on fixed blocks of rows of the result.
template <class Scalar>
class DenseDataMatrix final : public DataMatrix {
 public:
  DenseDataMatrix(const DenseView<Scalar>& view, int threads);

  Index rows() const override { return view_.rows; }
  Index cols() const override { return view_.cols; }
  void apply(const Matrix& V, Matrix& out) const override;
  void apply_transposed(const Matrix& U, Matrix& out) const override;
  double squared_norm() const override;
  std::optional<double> squared_distance(const Matrix& L, const Matrix& R) const override;
  double product_work() const override { return double(view_.rows) * double(view_.cols); }
  double rounding() const override { return std::numeric_limits<Scalar>::epsilon(); }
  Vector column_means() const override;
  double squared_norm_about(const Vector& column_shift) const override;
  double asymmetry() const override;
  double largest_magnitude() const override;
  DataMatrixPtr scaled(double power_of_two) const override;
  DataMatrixPtr shifted(const Vector& column_shift) const override;

 private:
  /// Calls visit(i, line) for every row of a row-major matrix, every column of any other: as they lie in
  /// memory.
  template <class Visit>
  void visit_lines(const Visit& visit) const;

  /// In memory of its own, every line changed: change(i, line) in double precision.
  template <class Change>
  DataMatrixPtr changed_copy(const Change& change) const;

  DenseView<Scalar> view_;
  int threads_;
};

}  // namespace pursuit
