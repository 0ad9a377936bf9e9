#pragma once
// Matrices known by their products with blocks of vectors. Memory bandwidth limits everything here, so a
// matrix is streamed once for a whole block; nothing downstream ever asks for a single entry.
//
// Operators refer to the data they are made from and never copy it: keep the data alive. Products use up to
// `threads` threads and give the same bits for any number of them.

#include <limits>
#include <memory>
#include <optional>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// A dense matrix in somebody else's memory, in either storage order.
template <class Scalar>
struct DenseView {
  const Scalar* data;
  Index rows, cols;
  Index stride;  // between columns, or between rows where row_major
  bool row_major = false;

  DenseView transposed() const { return {data, cols, rows, stride, !row_major}; }
  DenseView row_block(Index first, Index count) const {
    return {data + first * (row_major ? stride : 1), count, cols, stride, row_major};
  }
};

/// A compressed sparse matrix in somebody else's memory: by rows, or by columns where `by_columns`. The
/// entries of row (column) i are start[i] .. start[i + 1] - 1, ascending in `index`, no place twice.
template <class Scalar, class StoredIndex>
struct SparseView {
  const StoredIndex *start, *index;
  const Scalar* values;
  Index rows, cols;
  bool by_columns = false;
};

class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  virtual void apply(const Matrix& V, Matrix& out) const = 0;             // out = A V
  virtual void apply_transposed(const Matrix& U, Matrix& out) const = 0;  // out = A^T U

  /// Rounding errors of products, relative to what is multiplied.
  virtual double rounding() const { return std::numeric_limits<double>::epsilon(); }

  /// out = A^T A V; sparse matrices do it in one pass over the data for a single vector.
  virtual void apply_gram(const Matrix& V, Matrix& out) const;
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
};

using DataMatrixPtr = std::shared_ptr<const DataMatrix>;

/// Throws InvalidInput, naming the place, where the matrix is empty or an entry is NaN or infinite.
template <class Scalar>
DataMatrixPtr data_matrix(const DenseView<Scalar>& A, int threads = 1);
/// Indices are int or std::int64_t; InvalidInput also where they lie outside or are out of order.
template <class Scalar, class StoredIndex>
DataMatrixPtr data_matrix(const SparseView<Scalar, StoredIndex>& A, int threads = 1);
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
