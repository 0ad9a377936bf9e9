#pragma once
#include "io/archive_reader.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit {

/// The factorization in an archive that has been read.
ModelFile model_from(const ArchiveReader& reader);

}  // namespace pursuit
