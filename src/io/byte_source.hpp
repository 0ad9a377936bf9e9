#pragma once
// The bytes of a file, and gzip in both directions.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace pursuit::io {

/// The whole file. Throws InvalidInput, with the system's reason, where it cannot be read, holds nothing, or
/// holds more than half of the memory that is free.
std::string read_file(const std::filesystem::path& path);

/// Throws InvalidInput for bytes that cannot be text.
void require_no_zero_byte(std::string_view bytes, const std::string& name);

/// How many bytes compressed input may expand to: a small file that unpacks to more than all memory is an
/// attack or an accident. Real data stays far below this ratio; small inputs may expand up to a fixed size
/// regardless.
std::uint64_t expansion_limit(std::uint64_t compressed_size);

/// A size for a message: "1.5 GiB".
std::string human_size(std::uint64_t bytes);

/// Whether the bytes start like a gzip file.
bool is_gzip(std::string_view bytes);

/// Unpacks a gzip file of one or several members; checks lengths and checksums. `name` is for messages.
std::string gunzip(std::string_view bytes, const std::string& name, std::uint64_t limit);
inline std::string gunzip(std::string_view bytes, const std::string& name) {
  return gunzip(bytes, name, expansion_limit(bytes.size()));
}

/// Packs; equal bytes give equal results (no time stamp).
std::string gzip(std::string_view bytes);

}  // namespace pursuit::io
