#pragma once
#include "base/chunks.hpp"
#include "linalg/products.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// A dense matrix in either storage order, of single or double precision or of whole numbers, read where it
/// lies.
template <class Scalar>
class DenseDataMatrix final : public DataMatrix {
 public:
  DenseDataMatrix(const DenseView<Scalar>& view, int threads);

  Index rows() const override { return view_.rows; }
  Index cols() const override { return view_.cols; }
  void apply(const Matrix& V, Matrix& out) const override;
  void apply_transposed(const Matrix& U, Matrix& out) const override;
  int threads() const override { return threads_; }
  double squared_norm() const override;
  std::optional<double> squared_distance(const Matrix& L, const Matrix& R) const override;
  double product_work() const override { return double(view_.rows) * double(view_.cols); }
  double rounding() const override { return std::numeric_limits<Multiplied<Scalar>>::epsilon(); }
  Vector column_means() const override;
  double squared_norm_about(const Vector& column_shift) const override;
  double asymmetry() const override;
  double largest_magnitude() const override;
  DataMatrixPtr scaled(double power_of_two) const override;
  DataMatrixPtr shifted(const Vector& column_shift) const override;
  std::optional<NegativePart> negative_part() const override;
  std::optional<StoredEntries> stored_entries() const override;

 private:
  /// Lines are the rows of a row-major matrix, the columns of any other: as they lie in memory.
  Index lines() const { return view_.row_major ? view_.rows : view_.cols; }
  Index length() const { return view_.row_major ? view_.cols : view_.rows; }
  auto line(Index i) const {
    return Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>(view_.data + i * view_.stride,
                                                                      length());
  }
  template <class Work>
  void for_chunks(const Work& work) const;
  /// Calls visit(i, line) for the lines of a chunk, and for all of them on all threads.
  template <class Visit>
  void visit_lines(const Chunks& chunks, Index chunk, const Visit& visit) const;
  template <class Visit>
  void for_lines(const Visit& visit) const;
  /// Calls visit(i, line, sum), which adds to a sum.
  template <class Sum, class Visit>
  Sum sum_over_lines(const Sum& zero, const Visit& visit) const;

  void require_finite() const;
  void product(const DenseView<Scalar>& A, const Matrix& V, Matrix& out) const;

  /// In memory of its own, every line changed: change(i, line) in double precision.
  template <class Change>
  DataMatrixPtr changed_copy(const Change& change) const;

  DenseView<Scalar> view_;
  int threads_;
};

}  // namespace pursuit
