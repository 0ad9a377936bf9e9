#pragma once
// Sparse matrices as scipy.sparse.save_npz stores them: a handful of arrays in a .npz archive.

#include <cstdint>
#include <string>
#include <vector>

#include "io/npz_archive.hpp"
#include "io/npz_entries.hpp"
#include "io/plain_vector.hpp"
#include "io/sparse_assembly.hpp"
#include "io/stored_matrix.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

/// Reads the layouts csr, csc and coo. Entries of the same position are summed, as SciPy does: in these
/// layouts, unlike in MatrixMarket, that is what repeated entries mean. float32 stays float, all else becomes
/// double. Throws InvalidInput for another layout, for missing arrays and for positions outside the matrix.
StoredMatrix sparse_from_npz(const NpzArchive& archive, const std::string& name, int threads = 1);

/// The rows of an archive of the csr layout, decoded where they are asked for.
class CsrRows {
 public:
  /// Refuses what is wrong with the archive but for its starts and entries.
  CsrRows(NpzEntries arrays, std::string name, const SparseRoom& room, int threads);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  bool single() const { return single_; }

  /// Where all rows start, and the end of the last, which is looked at.
  std::vector<std::int64_t> all_starts() const;
  /// Some rows, as sparse_from_npz() has them, from starts that are sound.
  template <class Scalar>
  SparseMatrixOf<Scalar> read(Index first, Index last) const;
  /// Refuses columns outside the matrix from this entry on, which belong to no row.
  void require_unused_columns(Index first) const;

 private:
  NpyArray part(const std::string& array, Index first, Index count) const;
  std::vector<std::int64_t> starts(Index first, Index last) const;
  PlainVector<int> columns(Index first, Index last) const;

  NpzEntries arrays_;
  std::string name_;
  int threads_;
  Index rows_ = 0, cols_ = 0, entries_ = 0;
  bool single_ = false;
};

/// The csr layout.
NpzArchive sparse_to_npz(const SparseMatrixOf<double>& matrix);
NpzArchive sparse_to_npz(const SparseMatrixOf<float>& matrix);

}  // namespace pursuit::io
