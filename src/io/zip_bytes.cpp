#include "io/zip_bytes.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "io/defect.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

/// libzip's error object, which owns memory.
struct ZipError {
  ZipError() { zip_error_init(&error); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error); }
  std::string text() { return zip_error_strerror(&error); }
  zip_error_t error;
};

using Source = std::unique_ptr<zip_source_t, decltype(&zip_source_free)>;
using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using EntryFile = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;

/// Opens `source`, which the archive then shares with the caller.
Archive open_archive(zip_source_t* source, int mode, ZipError& error) {
  zip_source_keep(source);
  Archive archive(zip_open_from_source(source, mode, &error.error), &zip_discard);
  if (!archive) zip_source_free(source);
  return archive;
}

/// An entry's declared size, believed only where its packed bytes can possibly unpack to it.
std::size_t plausible_size(const zip_stat_t& entry, std::size_t archive_size, const std::string& where) {
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((entry.valid & kNeeded) != kNeeded) refuse(where, "its size or packing is not declared");
  if (entry.encryption_method != ZIP_EM_NONE) refuse(where, "it is encrypted");
  const bool deflated = entry.comp_method == ZIP_CM_DEFLATE;
  if (!deflated && entry.comp_method != ZIP_CM_STORE) {
    refuse(where, fmt::format("compression method {} is not supported; supported: 0 (stored), 8 (deflated)",
                              entry.comp_method));
  }
  constexpr std::uint64_t kBestDeflateRatio = 1032;
  const std::uint64_t most = deflated ? kBestDeflateRatio * entry.comp_size : entry.comp_size;
  if (entry.comp_size > archive_size || entry.size > most) {
    refuse(where, fmt::format("it declares {} packed into {}, which is impossible in an archive of {}",
                              human_size(entry.size), human_size(entry.comp_size), human_size(archive_size)));
  }
  return static_cast<std::size_t>(entry.size);
}

std::string unpack(zip_t* archive, zip_uint64_t index, std::size_t size, const std::string& where) {
  EntryFile file(zip_fopen_index(archive, index, 0), &zip_fclose);
  if (!file) refuse(where, fmt::format("it cannot be unpacked: {}", zip_strerror(archive)));
  std::string content(size + 1, '\0');  // one byte more, to see that the entry ends where it should
  std::size_t filled = 0;
  while (filled < content.size()) {
    const zip_int64_t count = zip_fread(file.get(), content.data() + filled, content.size() - filled);
    if (count < 0) refuse(where, fmt::format("it is damaged: {}", zip_file_strerror(file.get())));
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  if (filled != size)
    refuse(where, fmt::format("it is damaged: its size is not the {} bytes declared", size));
  content.resize(size);
  return content;
}

[[noreturn]] void fail_to_pack(const std::string& why) {
  throw OutputFailure("cannot make a zip archive: " + why);
}

}  // namespace

bool is_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

ZipEntries unzip(std::string_view bytes, const std::string& name, std::uint64_t limit) {
  ZipError error;
  const Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error.error),
                      &zip_source_free);
  if (!source) refuse(name, fmt::format("cannot open the zip archive: {}", error.text()));
  const Archive archive = open_archive(source.get(), ZIP_RDONLY, error);
  if (!archive) refuse(name, fmt::format("damaged or truncated zip archive: {}", error.text()));

  ZipEntries entries;
  std::uint64_t total = 0;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(count); ++i) {
    zip_stat_t entry;
    if (zip_stat_index(archive.get(), i, 0, &entry) != 0 || (entry.valid & ZIP_STAT_NAME) == 0) {
      refuse(name, fmt::format("damaged zip archive: entry {}: {}", i + 1, zip_strerror(archive.get())));
    }
    const std::string where = fmt::format("{}, entry {}", name, shown(entry.name));
    const std::size_t size = plausible_size(entry, bytes.size(), where);
    total += size;  // entries may share packed bytes: each may be plausible while all together are not
    if (total > limit) {
      refuse(where,
             fmt::format("the archive unpacks to more than {}, the most allowed for {}; unpack and repack it "
                         "without compression if it is genuine",
                         human_size(limit), human_size(bytes.size())));
    }
    if (!entries.emplace(entry.name, unpack(archive.get(), i, size, where)).second) {
      refuse(where, "the archive has two entries of this name");
    }
  }
  return entries;
}

std::string zip(const ZipEntries& entries) {
  ZipPieces pieces;
  for (const auto& [name, content] : entries) pieces[name] = {content};
  return zip_pieces(pieces);
}

std::string zip_pieces(const ZipPieces& entries) {
  // libzip deletes an archive without entries instead of writing it; this is what one looks like.
  if (entries.empty()) return "PK\x05\x06" + std::string(18, '\0');

  ZipError error;
  const Source target(zip_source_buffer_create(nullptr, 0, 0, &error.error), &zip_source_free);
  if (!target) fail_to_pack(error.text());
  Archive archive = open_archive(target.get(), ZIP_TRUNCATE, error);
  if (!archive) fail_to_pack(error.text());

  constexpr zip_uint32_t kLevel = 6;
  constexpr zip_uint16_t kMidnight = 0, kFirstOfJanuary1980 = (1 << 5) | 1;
  for (const auto& [name, pieces] : entries) {
    std::vector<zip_buffer_fragment_t> fragments;
    for (const std::string_view piece : pieces)
      if (!piece.empty())
        fragments.push_back({reinterpret_cast<zip_uint8_t*>(const_cast<char*>(piece.data())), piece.size()});
    Source source(zip_source_buffer_fragment(archive.get(), fragments.data(), fragments.size(), 0),
                  &zip_source_free);
    const zip_int64_t index =
        source ? zip_file_add(archive.get(), name.c_str(), source.get(), ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) fail_to_pack(zip_strerror(archive.get()));
    source.release();  // now the archive's
    const auto at = static_cast<zip_uint64_t>(index);
    if (zip_set_file_compression(archive.get(), at, ZIP_CM_DEFLATE, kLevel) != 0 ||
        zip_file_set_dostime(archive.get(), at, kMidnight, kFirstOfJanuary1980, 0) != 0) {
      fail_to_pack(zip_strerror(archive.get()));
    }
  }
  if (zip_close(archive.get()) != 0) fail_to_pack(zip_strerror(archive.get()));
  archive.release();  // closing has freed it

  zip_stat_t status;
  if (zip_source_stat(target.get(), &status) != 0 || zip_source_open(target.get()) != 0) {
    fail_to_pack(zip_error_strerror(zip_source_error(target.get())));
  }
  std::string bytes(status.size, '\0');
  const zip_int64_t count = zip_source_read(target.get(), bytes.data(), bytes.size());
  zip_source_close(target.get());
  if (count != static_cast<zip_int64_t>(bytes.size())) fail_to_pack("it cannot be read back");
  return bytes;
}

}  // namespace pursuit::io
