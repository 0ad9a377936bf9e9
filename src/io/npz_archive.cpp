#include "io/npz_archive.hpp"

#include "io/byte_source.hpp"
#include "io/npy.hpp"
#include "io/npz_entries.hpp"
#include "pursuit/io/atomic_file.hpp"

namespace pursuit {

NpzArchive read_npz(const std::filesystem::path& path) {
  const std::string name = path.string();
  return io::decode_npz(io::unpack_npz(io::read_file(path), name), name);
}

void write_npz(const std::filesystem::path& path, const NpzArchive& archive) {
  std::map<std::string, io::NpyBytes> arrays;
  for (const auto& [name, array] : archive) arrays.emplace(name, io::npy_bytes(array));
  write_file_atomically(path, io::pack_npz(arrays));
}

}  // namespace pursuit
