#pragma once
// The readers without the file: what read_matrix() does once it has the bytes.

#include <string>
#include <string_view>

#include "io/byte_source.hpp"
#include "io/stored_matrix.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::io {

/// Detects the format from the bytes. Throws InvalidInput for whatever cannot be read; that entries of arrays
/// are finite is left to whoever looks at them.
StoredTable read_stored(ByteSource source, const MatrixReading& reading);

/// Throws InvalidInput, naming the position, where an entry is NaN or infinite. Part of a matrix may begin
/// with another row than the first.
template <class Scalar>
void require_finite(const DenseView<Scalar>& view, const std::string& name, int threads, Index first_row = 0);
template <class Scalar>
void require_finite(const SparseMatrixOf<Scalar>& matrix, const std::string& name, int threads,
                    Index first_row = 0);

/// As matrices in memory of their own; a NaN or infinite entry is refused by its position.
NamedMatrix in_memory(StoredTable table, const std::string& name, int threads);

/// `name` stands for the file in messages.
NamedMatrix parse_matrix(std::string_view bytes, const std::string& name, const MatrixReading& reading = {});

}  // namespace pursuit::io
