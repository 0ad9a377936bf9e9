#include "io/npz_archive.hpp"

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/npy.hpp"
#include "io/npz_entries.hpp"
#include "pursuit/io/atomic_file.hpp"

namespace pursuit {

NpzArchive read_npz(const std::filesystem::path& path, int threads) {
  return io::within_memory(path, [&] {
    io::ByteSource source(path);
    return io::decode_npz(io::unpack_npz(source.take_all(), source.name(), threads), source.name(), threads);
  });
}

void write_npz(const std::filesystem::path& path, const NpzArchive& archive, int threads) {
  std::map<std::string, io::NpyBytes> arrays;
  for (const auto& [name, array] : archive) arrays.emplace(name, io::npy_bytes(array));
  AtomicFile file(path);
  io::pack_npz(
      arrays, [&](std::string_view bytes) { file.write(bytes); }, threads);
  file.commit();
}

}  // namespace pursuit
