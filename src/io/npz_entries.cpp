#include "io/npz_entries.hpp"

#include <fmt/format.h>

#include <utility>

#include "io/defect.hpp"
#include "io/npy.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit::io {

namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

NpzEntries unpack_npz(const Bytes& archive, const std::string& name, int threads) {
  NpzEntries entries;
  for (auto& [file, content] : unzip(archive, name, threads)) {
    if (!file.ends_with(kSuffix)) {
      refuse(name,
             fmt::format("the zip archive holds {}, which is not a .npy array; only archives of such arrays "
                         "(NumPy's .npz) are read",
                         shown(file)));
    }
    entries.emplace(file.substr(0, file.size() - kSuffix.size()), std::move(content));
  }
  return entries;
}

std::string at_array(const std::string& name, const std::string& array) {
  return fmt::format("{}, array {}", name, shown(array));
}

NpzArchive decode_npz(const NpzEntries& entries, const std::string& name, int threads) {
  NpzArchive archive;
  for (const auto& [array, bytes] : entries)
    archive.emplace(array, parse_npy(bytes.view, at_array(name, array), threads));
  return archive;
}

std::string npz_file(const std::string& array) {
  return array + std::string(kSuffix);
}

ZipPieces npz_files(const std::map<std::string, NpyBytes>& arrays) {
  ZipPieces files;
  for (const auto& [array, bytes] : arrays)
    files[npz_file(array)] = {std::string_view(bytes.head), bytes.body};
  return files;
}

void pack_npz(const std::map<std::string, NpyBytes>& arrays, const Sink& sink, int threads) {
  write_zip(npz_files(arrays), sink, threads);
}

}  // namespace pursuit::io
