#include "io/zip_bytes.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "base/parallel.hpp"
#include "io/defect.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

constexpr std::string_view kLocalMark("PK\x03\x04", 4), kCentralMark("PK\x01\x02", 4),
    kEndMark("PK\x05\x06", 4), kWideEndMark("PK\x06\x06", 4), kWideLocatorMark("PK\x06\x07", 4);
constexpr std::uint64_t kWide = 0xFFFFFFFF;  // the number is too large for 32 bits and stands elsewhere
constexpr unsigned kWideExtra = 1, kStored = 0, kDeflated = 8;

struct ZipEntry {
  std::string name;
  unsigned flags = 0, method = 0;
  std::uint64_t checksum = 0, packed_size = 0, size = 0, header = 0;  // header: where its own one starts
};

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

/// zlib counts in 32 bits.
constexpr std::size_t kOneCall = std::numeric_limits<uInt>::max();

Bytef* zip_buffer(const char* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
}

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
  if (::crc32_z(0, zip_buffer(content.view.data()), content.view.size()) != entry.checksum)
    refuse(where, "it is damaged: CRC error");
  return content;
}

/// A piece of a deflate stream, which begins with `before` behind it. Pieces end at whole bytes.
std::string deflated(std::string_view piece, std::string_view before, bool last, int level) {
  constexpr int kMemoryLevel = 8;
  constexpr std::size_t kWindow = 1 << 15;
  z_stream stream = {};
  if (::deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&::deflateEnd)> ended(&stream, &::deflateEnd);
  before = before.substr(before.size() - std::min(before.size(), kWindow));
  if (!before.empty())
    ::deflateSetDictionary(&stream, zip_buffer(before.data()), static_cast<uInt>(before.size()));
  constexpr std::size_t kFlush = 16;
  std::string packed(::deflateBound(&stream, piece.size()) + kFlush, '\0');
  stream.next_in = zip_buffer(piece.data());
  stream.avail_in = static_cast<uInt>(piece.size());
  stream.next_out = zip_buffer(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int outcome = ::deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH);
  if (outcome != (last ? Z_STREAM_END : Z_OK) || stream.avail_in != 0)
    throw OutputFailure("cannot make a zip archive: zlib fails");
  packed.resize(stream.total_out);
  return packed;
}

void append_bytes(std::string& text, std::uint64_t number, int bytes) {
  for (int k = 0; k < bytes; ++k, number >>= 8) text += static_cast<char>(number & 0xFF);
}

/// What the header of an entry and the list at the end have in common, with the numbers that are too large.
std::string described(const ZipEntry& entry, bool in_list) {
  constexpr unsigned kVersion = 20, kWideVersion = 45, kFirstOfJanuary1980 = (1 << 5) | 1;
  std::string wide;
  const auto narrow = [&](std::uint64_t number) {
    if (number >= kWide) append_bytes(wide, number, 8);
    return std::min(number, kWide);
  };
  const std::uint64_t size = narrow(entry.size), packed = narrow(entry.packed_size),
                      header = in_list ? narrow(entry.header) : 0;
  std::string text;
  append_bytes(text, wide.empty() ? kVersion : kWideVersion, 2);
  append_bytes(text, entry.flags, 2);
  append_bytes(text, entry.method, 2);
  append_bytes(text, 0, 2);  // midnight
  append_bytes(text, kFirstOfJanuary1980, 2);
  append_bytes(text, entry.checksum, 4);
  append_bytes(text, packed, 4);
  append_bytes(text, size, 4);
  append_bytes(text, entry.name.size(), 2);
  append_bytes(text, wide.empty() ? 0 : 4 + wide.size(), 2);
  if (in_list) {
    append_bytes(text, 0, 10);  // no comment, first disk, no attributes
    append_bytes(text, header, 4);
  }
  text += entry.name;
  if (!wide.empty()) {
    append_bytes(text, kWideExtra, 2);
    append_bytes(text, wide.size(), 2);
    text += wide;
  }
  return text;
}

/// Whether packing a large entry is worth its time: numbers without a pattern, as factors are, keep nine
/// tenths of their size and more. Samples tell, which depend on the content alone.
bool is_worth_packing(const std::vector<std::string_view>& contents, int level) {
  constexpr std::size_t kSample = std::size_t{1} << 16, kLarge = std::size_t{1} << 20;
  constexpr double kWorthwhile = 0.9;
  std::size_t size = 0, whole = 0, packed = 0;
  for (const std::string_view content : contents) size += content.size();
  if (size < kLarge) return true;
  for (const std::string_view content : contents)
    for (const std::size_t first : {std::size_t{0}, content.size() / 3, content.size() / 3 * 2}) {
      const std::string_view sample = content.substr(first, kSample);
      whole += sample.size();
      packed += deflated(sample, {}, true, level).size();
    }
  return double(packed) < kWorthwhile * double(whole);
}

/// Writes the entry and says what the list needs to know.
ZipEntry write_entry(const std::string& name, const std::vector<std::string_view>& contents, std::uint64_t at,
                     const Sink& sink, int threads) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  struct Piece {
    std::string_view content, before;
    std::string packed = {};
    uLong checksum = 0;
  };
  std::vector<Piece> pieces;
  for (const std::string_view content : contents)
    for (std::size_t first = 0; first < content.size(); first += kPiece)
      pieces.push_back({content.substr(first, kPiece), content.substr(0, first)});
  if (pieces.empty()) pieces.push_back({});
  // What takes seconds to pack is packed somewhat less tightly in a fifth of the time.
  constexpr std::size_t kManyPieces = 16;
  const int level = pieces.size() > kManyPieces ? 2 : 6;
  const bool packs = is_worth_packing(contents, level);
  parallel_for(Index(pieces.size()), threads, [&](Index p) {
    Piece& piece = pieces[static_cast<std::size_t>(p)];
    if (packs) piece.packed = deflated(piece.content, piece.before, p + 1 == Index(pieces.size()), level);
    piece.checksum = ::crc32_z(0, zip_buffer(piece.content.data()), piece.content.size());
  });
  ZipEntry entry;
  entry.name = name;
  entry.method = packs ? kDeflated : kStored;
  entry.header = at;
  constexpr unsigned kNameIsUtf8 = 1 << 11;
  for (const char c : name)
    if (static_cast<unsigned char>(c) >= 0x80) entry.flags = kNameIsUtf8;
  uLong checksum = ::crc32_z(0, nullptr, 0);
  for (const Piece& piece : pieces) {
    checksum = ::crc32_combine(checksum, piece.checksum, static_cast<z_off_t>(piece.content.size()));
    entry.size += piece.content.size();
    entry.packed_size += packs ? piece.packed.size() : piece.content.size();
  }
  entry.checksum = checksum;
  sink(std::string(kLocalMark) + described(entry, false));
  for (const Piece& piece : pieces) sink(packs ? piece.packed : piece.content);
  return entry;
}

}  // namespace

bool is_zip(std::string_view bytes) {
  return bytes.starts_with(kLocalMark) || bytes.starts_with(kEndMark);
}

ZipContents unzip(const Bytes& archive, const std::string& name, std::uint64_t limit, int threads) {
  const ZipDirectory directory(archive.view, name);
  const std::vector<ZipEntry> entries = directory.entries();
  const auto place = [&](const ZipEntry& entry) {
    return fmt::format("{}, entry {}", name, shown(entry.name));
  };
  ZipContents contents;
  std::vector<std::pair<const ZipEntry*, Bytes*>> work;
  std::uint64_t left = limit;
  for (const ZipEntry& entry : entries) {
    require_plausible(entry, archive.view.size(), place(entry));
    // Entries may share packed bytes: each may be plausible while all together are not.
    if (entry.size > left)
      refuse(place(entry),
             fmt::format("the archive unpacks to more than {}, the most allowed for {}; unpack and repack it "
                         "without compression if it is genuine",
                         human_size(limit), human_size(archive.view.size())));
    left -= entry.size;
    const auto [slot, is_new] = contents.emplace(entry.name, Bytes{});
    if (!is_new) refuse(place(entry), "the archive has two entries of this name");
    work.emplace_back(&entry, &slot->second);
  }
  std::vector<std::exception_ptr> failures(work.size());  // the first in the archive is told
  parallel_for(Index(work.size()), resolve_threads(threads), [&](Index k) {
    const auto& [entry, content] = work[static_cast<std::size_t>(k)];
    try {
      *content = unpacked(*entry, directory.packed(*entry), archive.owner, place(*entry));
    } catch (...) {
      failures[static_cast<std::size_t>(k)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return contents;
}

void write_zip(const ZipPieces& entries, const Sink& sink, int threads) {
  threads = resolve_threads(threads);
  std::uint64_t at = 0;
  const Sink counted = [&](std::string_view bytes) {
    at += bytes.size();
    sink(bytes);
  };
  std::string list;
  for (const auto& [name, pieces] : entries) {
    const ZipEntry entry = write_entry(name, pieces, at, counted, threads);
    list += kCentralMark;
    append_bytes(list, 45, 2);  // the version that wrote it
    list += described(entry, true);
  }
  const std::uint64_t start = at, count = entries.size();
  counted(list);
  std::string end;
  if (start >= kWide || list.size() >= kWide || count >= 0xFFFF) {
    end += kWideEndMark;
    append_bytes(end, 44, 8);  // bytes that follow
    append_bytes(end, 45 << 16 | 45, 4);
    append_bytes(end, 0, 8);
    append_bytes(end, count, 8);
    append_bytes(end, count, 8);
    append_bytes(end, list.size(), 8);
    append_bytes(end, start, 8);
    end += kWideLocatorMark;
    append_bytes(end, 0, 4);
    append_bytes(end, at, 8);
    append_bytes(end, 1, 4);
  }
  end += kEndMark;
  append_bytes(end, 0, 4);
  append_bytes(end, std::min<std::uint64_t>(count, 0xFFFF), 2);
  append_bytes(end, std::min<std::uint64_t>(count, 0xFFFF), 2);
  append_bytes(end, std::min<std::uint64_t>(list.size(), kWide), 4);
  append_bytes(end, std::min(start, kWide), 4);
  append_bytes(end, 0, 2);
  counted(end);
}

}  // namespace pursuit::io
