#pragma once
// Zip archives to and from memory.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.hpp"
#include "io/text_writer.hpp"

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

/// Writes contents, each in pieces that are read where they lie, in the order of the names. Large ones are
/// deflated only where that saves a tenth or more; all are dated the first day a zip file can express: equal
/// contents give equal bytes, whatever the number of threads.
using ZipPieces = std::map<std::string, std::vector<std::string_view>>;
void write_zip(const ZipPieces& entries, const Sink& sink, int threads);

}  // namespace pursuit::io
