#pragma once
// The readers without the file: what read_matrix() does once it has the bytes.

#include <string>
#include <string_view>

#include "pursuit/io/matrix_file.hpp"

namespace pursuit::io {

/// Detects the format from the bytes, unpacking gzip first. `name` stands for the file in messages. Throws
/// InvalidInput for whatever cannot be read; a NaN or infinite entry is named by its position.
NamedMatrix parse_matrix(std::string_view bytes, const std::string& name, const MatrixReading& reading = {});

}  // namespace pursuit::io
