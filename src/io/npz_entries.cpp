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

NpzEntries unpack_npz(std::string_view bytes, const std::string& name) {
  NpzEntries entries;
  for (auto& [file, content] : unzip(bytes, name)) {
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

NpzArchive decode_npz(const NpzEntries& entries, const std::string& name) {
  NpzArchive archive;
  for (const auto& [array, bytes] : entries) archive.emplace(array, parse_npy(bytes, at_array(name, array)));
  return archive;
}

std::string pack_npz(const std::map<std::string, NpyBytes>& arrays) {
  ZipPieces files;
  for (const auto& [array, bytes] : arrays)
    files[array + std::string(kSuffix)] = {std::string_view(bytes.head), bytes.body};
  return zip_pieces(files);
}

}  // namespace pursuit::io
