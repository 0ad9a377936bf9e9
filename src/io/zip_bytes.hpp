#pragma once
// The contents of zip archives.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "io/byte_source.hpp"

namespace pursuit::io {

bool is_zip(std::string_view bytes);

/// Unpacks every entry, at the same time, and verifies its checksum; one that is stored uncompressed stays
/// where it lies. Throws InvalidInput for an archive that is damaged, encrypted, names an entry twice, or
/// declares sizes that its bytes cannot or should not unpack to. `limit` is how many bytes all entries
/// together may unpack to.
using ZipContents = std::map<std::string, Bytes>;  // by the name in the archive
ZipContents unzip(const Bytes& archive, const std::string& name, std::uint64_t limit, int threads = 1);
inline ZipContents unzip(const Bytes& archive, const std::string& name, int threads = 1) {
  return unzip(archive, name, expansion_limit(archive.view.size()), threads);
}

}  // namespace pursuit::io
