#pragma once
// Products of a matrix that is compressed by rows with blocks of vectors.
//
// A block is held row-major while it is multiplied, so that one stored entry meets all its columns in a few
// vector registers. Rows are shared out in chunks of about as many entries each, fixed by the matrix alone,
// and every number of A V has one owner who adds its terms in the order of the entries. A^T U is the same
// for a transposed copy, whose rows are in order whatever the order of the columns was.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/chunks.hpp"
#include "base/fresh_pages.hpp"
#include "pursuit/base/types.hpp"
#include "pursuit/linalg/views.hpp"

namespace pursuit {

/// Numbers of a row of a block, where rows lie one after the other.
Index padded_columns(Index columns);

template <class Scalar, class StoredIndex>
class CompressedRows {
 public:
  /// Refers to a matrix by rows that was found sound.
  CompressedRows(const SparseView<Scalar, StoredIndex>& A, int threads);

  const SparseView<Scalar, StoredIndex>& view() const { return A_; }
  Index entries() const { return Index(A_.start[A_.rows]); }

  /// Chunks of rows, and the first row of each.
  Index chunks() const { return chunks_.count(); }
  Index first_row(Index chunk) const { return first_rows_[std::size_t(chunk)]; }

  void multiply(const Matrix& V, Matrix& out) const;
  /// The same of a block whose rows lie one after the other, each of padded_columns(columns) numbers on cache
  /// lines of its own, the last of them zero.
  void multiply_rows(const double* block, Index columns, Matrix& out) const;

  /// out = A^T U without a transposed copy: slower, and for fewer threads.
  void multiply_transposed(const Matrix& U, Matrix& out) const;

 private:
  void cut_columns(Index tiles);
  void multiply_long_rows(const Matrix& V, Matrix& out) const;

  SparseView<Scalar, StoredIndex> A_;
  int threads_;
  Chunks chunks_;
  std::vector<Index> first_rows_;
  bool long_rows_;  // too few rows for many threads: tiles are summed apart
  Index tiles_ = 1;
  std::vector<StoredIndex>
      splits_;  // rows x (tiles + 1): where tiles begin in each row, if there are several
};

/// The transpose of a matrix, by rows, in memory of its own.
template <class Scalar, class StoredIndex>
class TransposedCopy {
 public:
  TransposedCopy(const CompressedRows<Scalar, StoredIndex>& A, int threads);
  static std::uint64_t bytes(const CompressedRows<Scalar, StoredIndex>& A);
  const CompressedRows<Scalar, StoredIndex>& rows() const { return *rows_; }

 private:
  Room<StoredIndex> start_, index_;
  Room<Scalar> values_;
  std::unique_ptr<CompressedRows<Scalar, StoredIndex>> rows_;
};

}  // namespace pursuit
