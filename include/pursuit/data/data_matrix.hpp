#pragma once
// A matrix to be approximated: an operator that knows its own size, and what the engine makes of others.
//
// Operators refer to the data they are made from and never copy it: keep the data alive. Products use up to
// `threads` threads and give the same bits for any number of them.

#include <algorithm>
#include <memory>
#include <optional>

#include "pursuit/data/stored_entries.hpp"
#include "pursuit/linalg/linear_operator.hpp"
#include "pursuit/linalg/views.hpp"

namespace pursuit {

/// What a matrix has below zero.
struct NegativePart {
  Index count = 0;
  double lowest = 0, squares = 0;  // the sum of them

  void add(double value) {
    if (value >= 0) return;
    ++count;
    lowest = std::min(lowest, value);
    squares += value * value;
  }
  void add(const NegativePart& other) {
    count += other.count;
    lowest = std::min(lowest, other.lowest);
    squares += other.squares;
  }
};

/// An operator that knows its size in the Frobenius norm, which makes it a target of approximation.
class DataMatrix : public LinearOperator {
 public:
  virtual double squared_norm() const = 0;

  /// ||A - L R^T||^2 summed over the entries, with no cancellation; empty where that would cost far more than
  /// the products do (a large sparse matrix).
  virtual std::optional<double> squared_distance(const Matrix& L, const Matrix& R) const = 0;

  /// Cost of a product with one vector, in multiply-adds of a dense product.
  virtual double product_work() const = 0;

  /// What centring and covariances need.
  virtual Vector column_means() const = 0;
  virtual double squared_norm_about(const Vector& column_shift) const = 0;

  /// Largest |a_ij - a_ji| of a square matrix.
  virtual double asymmetry() const = 0;

  /// Largest |a_ij|, or a bound on it that is not far off.
  virtual double largest_magnitude() const = 0;

  /// The matrix times a power of two, in memory of its own.
  virtual std::shared_ptr<const DataMatrix> scaled(double power_of_two) const = 0;

  /// The matrix with shift_j subtracted from column j, in memory of its own; null where products with the
  /// matrix as it is lose no digits to the shift, or where there would be far more entries to store.
  virtual std::shared_ptr<const DataMatrix> shifted(const Vector& column_shift) const = 0;

  /// Empty where the matrix is known by its products alone.
  virtual std::optional<NegativePart> negative_part() const { return std::nullopt; }

  /// A copy of its entries; empty where the matrix is known by its products alone.
  virtual std::optional<StoredEntries> stored_entries() const { return std::nullopt; }
};

using DataMatrixPtr = std::shared_ptr<const DataMatrix>;

/// Of float, double, or whole numbers of any size, which are used as they lie and count as doubles. Throws
/// InvalidInput, naming the place, where the matrix is empty or an entry is NaN or infinite.
template <class Scalar>
DataMatrixPtr data_matrix(const DenseView<Scalar>& A, int threads = 1);
/// Indices are int or std::int64_t; InvalidInput also where they lie outside, where a place comes twice, and
/// where they are not in the order that the view says they are in.
template <class Scalar, class StoredIndex>
DataMatrixPtr data_matrix(const SparseView<Scalar, StoredIndex>& A, int threads = 1);
/// Whether a place is stored twice, whatever the view says of their order. Indices outside are refused.
template <class Scalar, class StoredIndex>
bool has_duplicates(const SparseView<Scalar, StoredIndex>& A, int threads = 1);
DataMatrixPtr data_matrix(const Eigen::MatrixXd& A, int threads = 1);
DataMatrixPtr data_matrix(const Eigen::MatrixXf& A, int threads = 1);
DataMatrixPtr data_matrix(const SparseMatrixOf<double>& A, int threads = 1);
DataMatrixPtr data_matrix(const SparseMatrixOf<float>& A, int threads = 1);
DataMatrixPtr data_matrix(const AnyMatrix& A, int threads = 1);
/// A matrix that is about to go away moves into the operator.
DataMatrixPtr data_matrix(Eigen::MatrixXd&& A, int threads = 1);
DataMatrixPtr data_matrix(Eigen::MatrixXf&& A, int threads = 1);
DataMatrixPtr data_matrix(SparseMatrixOf<double>&& A, int threads = 1);
DataMatrixPtr data_matrix(SparseMatrixOf<float>&& A, int threads = 1);
DataMatrixPtr data_matrix(AnyMatrix&& A, int threads = 1);

/// The power of four that brings a number between one and four; 1 for zero.
double unit_scale(double magnitude);

/// The matrix times a power of four: 1, unless fourth powers of its entries could overflow or vanish. Then
/// its largest entry is about one, and the matrix is a copy.
struct Comfortable {
  DataMatrixPtr data;
  double scale;
};
Comfortable comfortable(DataMatrixPtr A);

/// A minus its column means; not formed, unless the means are so large that products would lose digits to
/// them.
DataMatrixPtr centered(DataMatrixPtr A);

/// A with column j times scale_j, never formed.
DataMatrixPtr column_scaled(DataMatrixPtr A, Vector scale);

/// scale * A^T A, never formed: with A centred and scale 1/(n-1) the covariance of the columns of A.
DataMatrixPtr gram_matrix(DataMatrixPtr A, double scale);

}  // namespace pursuit
