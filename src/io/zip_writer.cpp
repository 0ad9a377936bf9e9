#include "io/zip_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "io/zip_format.hpp"

namespace pursuit::io {

namespace {

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

}  // namespace

void ZipWriter::write(const std::string& name, const std::vector<std::string_view>& contents, int threads) {
  std::vector<std::uint64_t> sizes;
  std::vector<ReadBytes> readers;
  for (const std::string_view content : contents) {
    sizes.push_back(content.size());
    readers.push_back(bytes_in_place(content));
  }
  const EntryCut cut(std::move(sizes));
  const bool packs = is_worth_packing(cut, readers);
  const PackedPieces pieces(cut, std::move(readers), 0, cut.pieces(), packs, threads);
  begin(name, packs, pieces.size());
  pieces.write([&](std::string_view bytes) { put(bytes); });
}

void ZipWriter::begin(const std::string& name, bool packed, const PackedSize& size) {
  ZipEntry entry;
  entry.name = name;
  entry.method = packed ? kDeflated : kStored;
  entry.checksum = size.checksum;
  entry.packed_size = size.packed_size;
  entry.size = size.size;
  entry.header = at_;
  constexpr unsigned kNameIsUtf8 = 1 << 11;
  for (const char c : name)
    if (static_cast<unsigned char>(c) >= 0x80) entry.flags = kNameIsUtf8;
  list_ += kCentralMark;
  append_bytes(list_, 45, 2);  // the version that wrote it
  list_ += described(entry, true);
  ++count_;
  put(std::string(kLocalMark) + described(entry, false));
}

void ZipWriter::put(std::string_view bytes) {
  at_ += bytes.size();
  sink_(bytes);
}

void ZipWriter::finish() {
  const std::uint64_t start = at_;
  put(list_);
  std::string end;
  if (start >= kWide || list_.size() >= kWide || count_ >= 0xFFFF) {
    end += kWideEndMark;
    append_bytes(end, 44, 8);  // bytes that follow
    append_bytes(end, 45 << 16 | 45, 4);
    append_bytes(end, 0, 8);
    append_bytes(end, count_, 8);
    append_bytes(end, count_, 8);
    append_bytes(end, list_.size(), 8);
    append_bytes(end, start, 8);
    end += kWideLocatorMark;
    append_bytes(end, 0, 4);
    append_bytes(end, at_, 8);
    append_bytes(end, 1, 4);
  }
  end += kEndMark;
  append_bytes(end, 0, 4);
  append_bytes(end, std::min<std::uint64_t>(count_, 0xFFFF), 2);
  append_bytes(end, std::min<std::uint64_t>(count_, 0xFFFF), 2);
  append_bytes(end, std::min<std::uint64_t>(list_.size(), kWide), 4);
  append_bytes(end, std::min(start, kWide), 4);
  append_bytes(end, 0, 2);
  put(end);
}

void write_zip(const ZipPieces& entries, const Sink& sink, int threads) {
  threads = resolve_threads(threads);
  ZipWriter writer(sink);
  for (const auto& [name, contents] : entries) writer.write(name, contents, threads);
  writer.finish();
}

}  // namespace pursuit::io
