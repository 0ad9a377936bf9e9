#pragma once
// What whoever reads zip archives and whoever writes them agree on.

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace pursuit::io {

inline constexpr std::string_view kLocalMark("PK\x03\x04", 4), kCentralMark("PK\x01\x02", 4),
    kEndMark("PK\x05\x06", 4), kWideEndMark("PK\x06\x06", 4), kWideLocatorMark("PK\x06\x07", 4);
constexpr std::uint64_t kWide = 0xFFFFFFFF;  // the number is too large for 32 bits and stands elsewhere
constexpr unsigned kWideExtra = 1, kStored = 0, kDeflated = 8;

struct ZipEntry {
  std::string name;
  unsigned flags = 0, method = 0;
  std::uint64_t checksum = 0, packed_size = 0, size = 0, header = 0;  // header: where its own one starts
};

/// zlib reads through pointers that would let it write.
inline Bytef* zip_buffer(const char* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
}

}  // namespace pursuit::io
