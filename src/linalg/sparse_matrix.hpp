#pragma once
// Products of a compressed-row matrix with blocks of vectors.
//
// A block is held row-major while it is multiplied, so that one stored entry meets all its columns in a few
// vector registers. The columns of A are cut into ranges, so that the rows of V that A V gathers from, and
// the rows of the result that A^T U scatters into, stay in cache. One thread owns a range of the result,
// which also fixes the order of the sums. Beside the matrix itself this needs one offset per row and range,
// not a transposed copy.

#include <vector>

#include "pursuit/linalg/linear_operator.hpp"

namespace pursuit {

template <class Scalar>
class SparseDataMatrix final : public DataMatrix {
 public:
  SparseDataMatrix(const SparseMatrixOf<Scalar>& A, int threads);

  Index rows() const override { return A_.rows(); }
  Index cols() const override { return A_.cols(); }
  void apply(const Matrix& V, Matrix& out) const override;
  void apply_transposed(const Matrix& U, Matrix& out) const override;
  void apply_gram(const Matrix& V, Matrix& out) const override;
  double squared_norm() const override;
  std::optional<double> squared_distance(const Matrix& L, const Matrix& R) const override;
  double product_work() const override {
    return 4.0 * double(A_.nonZeros());
  }  // gathers are slower than streams
  Vector column_means() const override;
  double squared_norm_about(const Vector& column_shift) const override;
  double asymmetry() const override;

 private:
  Index range_first(Index range) const { return cols() * range / ranges_; }
  const int* split(Index row) const { return splits_.data() + row * (ranges_ + 1); }

  const SparseMatrixOf<Scalar>& A_;
  int threads_;
  Index ranges_;             // of columns
  std::vector<int> splits_;  // rows x (ranges + 1): where each range begins in each row's entries
};

}  // namespace pursuit
