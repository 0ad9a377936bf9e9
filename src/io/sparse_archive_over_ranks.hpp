#pragma once
// Sparse matrices in .npz archives whose arrays lie there as they are: every rank takes its own rows.

#include <optional>
#include <string>
#include <vector>

#include "io/byte_source.hpp"
#include "io/own_rows.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit::io {

/// An archive in the csr layout, its arrays not looked at; nothing where it is another, or any array is
/// packed.
using CsrInPlace = std::vector<ZipEntryInPlace>;
std::optional<CsrInPlace> find_csr_in_place(const Bytes& archive, const std::string& name);

/// All ranks call it together and find the archive under the same name. Each looks at a part of it for its
/// checksum, and then at its own rows.
RankedTable read_csr_over_ranks(Ranks& ranks, const Bytes& archive, const std::string& name, int threads);

}  // namespace pursuit::io
