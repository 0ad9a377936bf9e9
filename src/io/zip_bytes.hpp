#pragma once
// The contents of zip archives.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Where the entries of an archive lie in it, in its order, with the checksums that they should have; none
/// where one of them is packed. The list alone is looked at, and refused as above.
struct ZipEntryInPlace {
  std::string name;
  std::string_view bytes;
  std::uint32_t checksum;
};
std::optional<std::vector<ZipEntryInPlace>> zip_entries_in_place(std::string_view archive,
                                                                 const std::string& name);
/// What an entry of an archive is called in messages.
std::string at_entry(const std::string& name, const std::string& entry);

std::uint32_t zip_checksum(std::string_view bytes);
/// Of bytes with this checksum, and so many more with that one behind them.
std::uint32_t zip_checksum_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t second_size);
[[noreturn]] void refuse_checksum(const std::string& where);

}  // namespace pursuit::io
