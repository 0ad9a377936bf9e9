#pragma once
// Sparse matrices as scipy.sparse.save_npz stores them: a handful of arrays in a .npz archive.

#include <string>

#include "io/npz_archive.hpp"
#include "io/stored_matrix.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

/// Reads the layouts csr, csc and coo. Entries of the same position are summed, as SciPy does: in these
/// layouts, unlike in MatrixMarket, that is what repeated entries mean. float32 stays float, all else becomes
/// double. Throws InvalidInput for another layout, for missing arrays and for positions outside the matrix.
StoredMatrix sparse_from_npz(const NpzArchive& archive, const std::string& name, int threads = 1);

/// The csr layout.
NpzArchive sparse_to_npz(const SparseMatrixOf<double>& matrix);
NpzArchive sparse_to_npz(const SparseMatrixOf<float>& matrix);

}  // namespace pursuit::io
