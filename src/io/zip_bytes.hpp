#pragma once
// Zip archives to and from memory.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.hpp"

namespace pursuit::io {

using ZipEntries = std::map<std::string, std::string>;  // name in the archive -> content

bool is_zip(std::string_view bytes);

/// Unpacks every entry and verifies its checksum. Throws InvalidInput for an archive that is damaged,
/// encrypted, names an entry twice, or declares sizes that its bytes cannot or should not unpack to.
/// `limit` is how many bytes all entries together may unpack to.
ZipEntries unzip(std::string_view bytes, const std::string& name, std::uint64_t limit);
inline ZipEntries unzip(std::string_view bytes, const std::string& name) {
  return unzip(bytes, name, expansion_limit(bytes.size()));
}

/// Deflated, in the order of the names, all dated the first day a zip file can express: equal entries give
/// equal bytes.
std::string zip(const ZipEntries& entries);

/// The same for contents in pieces, read where they lie.
using ZipPieces = std::map<std::string, std::vector<std::string_view>>;
std::string zip_pieces(const ZipPieces& entries);

}  // namespace pursuit::io
