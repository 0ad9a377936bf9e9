#pragma once
// Sparse matrices as data: checked at the door, and multiplied from both sides by rows of entries, those of
// the matrix and those of a transposed copy, which is made when it is first needed and memory allows it.

#include <memory>
#include <mutex>

#include "data/compressed_rows.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

template <class Scalar, class StoredIndex>
class SparseDataMatrix final : public DataMatrix {
 public:
  /// The view is taken to be by rows.
  SparseDataMatrix(const SparseView<Scalar, StoredIndex>& A, int threads);

  Index rows() const override { return A_.view().rows; }
  Index cols() const override { return A_.view().cols; }
  void apply(const Matrix& V, Matrix& out) const override { A_.multiply(V, out); }
  /// The same of a block that lies by rows (CompressedRows::multiply_rows).
  void apply_rows(const double* block, Index columns, Matrix& out) const {
    A_.multiply_rows(block, columns, out);
  }
  const SparseView<Scalar, StoredIndex>& view() const { return A_.view(); }
  int threads() const override { return threads_; }
  void apply_transposed(const Matrix& U, Matrix& out) const override;
  double squared_norm() const override;
  std::optional<double> squared_distance(const Matrix& L, const Matrix& R) const override;
  double product_work() const override {
    return 4.0 * double(A_.entries());
  }  // gathers are slower than streams
  Vector column_means() const override;
  double squared_norm_about(const Vector& column_shift) const override;
  double asymmetry() const override;
  double largest_magnitude() const override;
  DataMatrixPtr scaled(double power_of_two) const override { return scaled_copy(power_of_two, false); }
  DataMatrixPtr shifted(const Vector&) const override { return nullptr; }  // it would be dense

  std::optional<NegativePart> negative_part() const override;
  std::optional<StoredEntries> stored_entries() const override;

  /// In memory of its own; as the transpose where its columns are what is stored here by rows.
  DataMatrixPtr scaled_copy(double power_of_two, bool transposed) const;
  Vector row_means() const;
  double squared_norm_about_rows(const Vector& row_shift) const;

 private:
  /// nullptr where there is no memory for it.
  const CompressedRows<Scalar, StoredIndex>* transposed() const;

  int threads_;
  CompressedRows<Scalar, StoredIndex> A_;
  mutable std::once_flag transposed_once_;
  mutable std::unique_ptr<const TransposedCopy<Scalar, StoredIndex>> transposed_;
};

/// Whether it is one of those whose indices are as matrices of ranks have them.
inline bool is_sparse(const DataMatrix& A) {
  return dynamic_cast<const SparseDataMatrix<double, int>*>(&A) ||
         dynamic_cast<const SparseDataMatrix<float, int>*>(&A);
}

/// A matrix compressed by columns: the transpose of one compressed by rows.
template <class Scalar, class StoredIndex>
class TransposedSparseMatrix final : public DataMatrix {
 public:
  /// The view is taken to be by columns.
  TransposedSparseMatrix(const SparseView<Scalar, StoredIndex>& A, int threads)
      : transposed_({A.start, A.index, A.values, A.cols, A.rows, false, A.in_order}, threads) {}

  Index rows() const override { return transposed_.cols(); }
  Index cols() const override { return transposed_.rows(); }
  int threads() const override { return transposed_.threads(); }
  void apply(const Matrix& V, Matrix& out) const override { transposed_.apply_transposed(V, out); }
  void apply_transposed(const Matrix& U, Matrix& out) const override { transposed_.apply(U, out); }
  double squared_norm() const override { return transposed_.squared_norm(); }
  std::optional<double> squared_distance(const Matrix& L, const Matrix& R) const override {
    return transposed_.squared_distance(R, L);
  }
  double product_work() const override { return transposed_.product_work(); }
  Vector column_means() const override { return transposed_.row_means(); }
  double squared_norm_about(const Vector& column_shift) const override {
    return transposed_.squared_norm_about_rows(column_shift);
  }
  double asymmetry() const override { return transposed_.asymmetry(); }
  double largest_magnitude() const override { return transposed_.largest_magnitude(); }
  DataMatrixPtr scaled(double power_of_two) const override {
    return transposed_.scaled_copy(power_of_two, true);
  }
  DataMatrixPtr shifted(const Vector&) const override { return nullptr; }
  std::optional<NegativePart> negative_part() const override { return transposed_.negative_part(); }
  std::optional<StoredEntries> stored_entries() const override {
    return transposed_.stored_entries()->transposed(threads());
  }

 private:
  SparseDataMatrix<Scalar, StoredIndex> transposed_;
};

}  // namespace pursuit
