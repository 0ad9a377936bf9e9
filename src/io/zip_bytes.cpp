#include "io/zip_bytes.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <utility>

#include "base/parallel.hpp"
#include "io/defect.hpp"
#include "io/zip_format.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

/// Reads the list of entries at the end of an archive, and where each of them lies.
class ZipDirectory {
 public:
  ZipDirectory(std::string_view archive, const std::string& name) : archive_(archive), name_(name) {}

  std::vector<ZipEntry> entries() const {
    const std::uint64_t end = find_end();
    std::uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
    if (count == 0xFFFF || at == kWide) {
      require(end >= 20 && has_mark(end - 20, kWideLocatorMark));
      const std::uint64_t wide_end = number(end - 12, 8);
      require(has_mark(wide_end, kWideEndMark));
      count = number(wide_end + 32, 8);
      at = number(wide_end + 48, 8);
    }
    std::vector<ZipEntry> list;
    for (; count > 0; --count) {  // every entry takes bytes: the archive ends before a wrong count does
      require(has_mark(at, kCentralMark));
      ZipEntry entry;
      entry.flags = static_cast<unsigned>(number(at + 8, 2));
      entry.method = static_cast<unsigned>(number(at + 10, 2));
      entry.checksum = number(at + 16, 4);
      entry.packed_size = number(at + 20, 4);
      entry.size = number(at + 24, 4);
      entry.header = number(at + 42, 4);
      const std::uint64_t length = number(at + 28, 2), extra = number(at + 30, 2);
      entry.name = bytes(at + 46, length);
      read_wide_numbers(at + 46 + length, extra, entry);
      at += 46 + length + extra + number(at + 32, 2);
      list.push_back(std::move(entry));
    }
    return list;
  }

  std::string_view packed(const ZipEntry& entry) const {
    require(has_mark(entry.header, kLocalMark));
    return bytes(entry.header + 30 + number(entry.header + 26, 2) + number(entry.header + 28, 2),
                 entry.packed_size);
  }

 private:
  /// Where the record stands that ends the archive, a comment behind it aside.
  std::uint64_t find_end() const {
    constexpr std::size_t kSize = 22, kLongestComment = 0xFFFF;
    require(archive_.size() >= kSize);
    for (std::size_t at = archive_.size() - kSize;; --at) {
      if (has_mark(at, kEndMark) && at + kSize + number(at + 20, 2) == archive_.size()) return at;
      require(at > 0 && archive_.size() - at < kSize + kLongestComment);
    }
  }

  void read_wide_numbers(std::uint64_t at, std::uint64_t size, ZipEntry& entry) const {
    for (const std::uint64_t end = at + size; at + 4 <= end;) {
      const std::uint64_t kind = number(at, 2);
      std::uint64_t next = at + 4;
      at = next + number(at + 2, 2);
      if (kind != kWideExtra) continue;
      for (std::uint64_t* wide : {&entry.size, &entry.packed_size, &entry.header})
        if (*wide == kWide) {
          require(next + 8 <= at);
          *wide = number(next, 8);
          next += 8;
        }
    }
  }

  void require(bool sound) const {
    if (!sound) refuse(name_, "damaged or truncated zip archive");
  }
  bool has_mark(std::uint64_t at, std::string_view mark) const {
    return at <= archive_.size() && archive_.substr(at).starts_with(mark);
  }
  std::string_view bytes(std::uint64_t at, std::uint64_t size) const {
    require(at <= archive_.size() && size <= archive_.size() - at);
    return archive_.substr(at, size);
  }
  std::uint64_t number(std::uint64_t at, std::uint64_t size) const {
    std::uint64_t value = 0;
    const std::string_view digits = bytes(at, size);
    for (std::size_t k = digits.size(); k-- > 0;) value = value << 8 | static_cast<unsigned char>(digits[k]);
    return value;
  }

  std::string_view archive_;
  const std::string& name_;
};

void require_plausible(const ZipEntry& entry, std::size_t archive_size, const std::string& where) {
  if ((entry.flags & 1) != 0) refuse(where, "it is encrypted");
  if (entry.method != kStored && entry.method != kDeflated)
    refuse(where, fmt::format("compression method {} is not supported; supported: 0 (stored), 8 (deflated)",
                              entry.method));
  constexpr std::uint64_t kBestDeflateRatio = 1032;
  const bool possible = entry.packed_size <= archive_size &&
                        (entry.method == kDeflated ? entry.size / kBestDeflateRatio <= entry.packed_size
                                                   : entry.size == entry.packed_size);
  if (!possible)
    refuse(where,
           fmt::format("it declares {} packed into {}, which is impossible in an archive of {}",
                       human_size(entry.size), human_size(entry.packed_size), human_size(archive_size)));
}

/// Refuses entries that are not plausible, one by one or all together, and names that come twice.
void require_sound(const std::vector<ZipEntry>& entries, std::size_t archive_size, const std::string& name,
                   std::uint64_t limit) {
  std::set<std::string_view> names;
  std::uint64_t left = limit;
  for (const ZipEntry& entry : entries) {
    const std::string where = at_entry(name, entry.name);
    require_plausible(entry, archive_size, where);
    // Entries may share packed bytes: each may be plausible while all together are not.
    if (entry.size > left)
      refuse(where,
             fmt::format("the archive unpacks to more than {}, the most allowed for {}; unpack and repack it "
                         "without compression if it is genuine",
                         human_size(limit), human_size(archive_size)));
    left -= entry.size;
    if (!names.insert(entry.name).second) refuse(where, "the archive has two entries of this name");
  }
}

/// zlib counts in 32 bits.
constexpr std::size_t kOneCall = std::numeric_limits<uInt>::max();

std::shared_ptr<std::string> inflated(std::string_view packed, std::size_t size, const std::string& where) {
  z_stream stream = {};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&::inflateEnd)> ended(&stream, &::inflateEnd);
  auto content = std::make_shared<std::string>(size + 1, '\0');  // one more, to see that it ends there
  std::size_t taken = 0, filled = 0;
  int outcome = Z_OK;
  while (outcome == Z_OK) {
    const auto supply = static_cast<uInt>(std::min(kOneCall, packed.size() - taken));
    const auto room = static_cast<uInt>(std::min(kOneCall, content->size() - filled));
    stream.next_in = zip_buffer(packed.data() + taken);
    stream.avail_in = supply;
    stream.next_out = zip_buffer(content->data() + filled);
    stream.avail_out = room;
    outcome = ::inflate(&stream, Z_NO_FLUSH);
    taken += supply - stream.avail_in;
    filled += room - stream.avail_out;
  }
  if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
  if (outcome != Z_STREAM_END || filled != size)
    refuse(where,
           fmt::format("it is damaged: {}",
                       stream.msg != nullptr ? stream.msg
                                             : fmt::format("its size is not the {} bytes declared", size)));
  content->resize(size);
  return content;
}

Bytes unpacked(const ZipEntry& entry, std::string_view packed, const std::shared_ptr<const void>& owner,
               const std::string& where) {
  Bytes content{packed, owner};
  if (entry.method == kDeflated) {
    const auto own = inflated(packed, entry.size, where);
    content = {*own, own};
  }
  if (zip_checksum(content.view) != entry.checksum) refuse_checksum(where);
  return content;
}

}  // namespace

bool is_zip(std::string_view bytes) {
  return bytes.starts_with(kLocalMark) || bytes.starts_with(kEndMark);
}

ZipContents unzip(const Bytes& archive, const std::string& name, std::uint64_t limit, int threads) {
  const ZipDirectory directory(archive.view, name);
  const std::vector<ZipEntry> entries = directory.entries();
  require_sound(entries, archive.view.size(), name, limit);
  ZipContents contents;
  std::vector<std::pair<const ZipEntry*, Bytes*>> work;
  work.reserve(entries.size());
  for (const ZipEntry& entry : entries) work.emplace_back(&entry, &contents[entry.name]);
  std::vector<std::exception_ptr> failures(work.size());  // the first in the archive is told
  parallel_for(Index(work.size()), resolve_threads(threads), [&](Index k) {
    const auto& [entry, content] = work[static_cast<std::size_t>(k)];
    try {
      *content = unpacked(*entry, directory.packed(*entry), archive.owner, at_entry(name, entry->name));
    } catch (...) {
      failures[static_cast<std::size_t>(k)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return contents;
}

std::optional<std::vector<ZipEntryInPlace>> zip_entries_in_place(std::string_view archive,
                                                                 const std::string& name) {
  const ZipDirectory directory(archive, name);
  const std::vector<ZipEntry> entries = directory.entries();
  require_sound(entries, archive.size(), name, expansion_limit(archive.size()));
  std::vector<ZipEntryInPlace> in_place;
  for (const ZipEntry& entry : entries) {
    if (entry.method != kStored) return std::nullopt;
    in_place.push_back({entry.name, directory.packed(entry), static_cast<std::uint32_t>(entry.checksum)});
  }
  return in_place;
}

std::string at_entry(const std::string& name, const std::string& entry) {
  return fmt::format("{}, entry {}", name, shown(entry));
}

std::uint32_t zip_checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, zip_buffer(bytes.data()), bytes.size()));
}

std::uint32_t zip_checksum_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t second_size) {
  return static_cast<std::uint32_t>(::crc32_combine(first, second, static_cast<z_off_t>(second_size)));
}

void refuse_checksum(const std::string& where) {
  refuse(where, "it is damaged: CRC error");
}

}  // namespace pursuit::io
