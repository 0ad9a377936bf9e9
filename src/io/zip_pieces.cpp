#include "io/zip_pieces.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/parallel.hpp"
#include "io/zip_format.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

/// A piece of a deflate stream, which begins with `before` behind it. Pieces end at whole bytes.
std::string deflated(std::string_view piece, std::string_view before, bool last, int level) {
  constexpr int kMemoryLevel = 8;
  z_stream stream = {};
  if (::deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&::deflateEnd)> ended(&stream, &::deflateEnd);
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
  packed.shrink_to_fit();  // it may have to wait for long
  return packed;
}

}  // namespace

ReadBytes bytes_in_place(std::string_view bytes) {
  return [bytes](std::uint64_t first, std::size_t count, std::string&) { return bytes.substr(first, count); };
}

EntryCut::EntryCut(std::vector<std::uint64_t> sizes) : sizes_(std::move(sizes)) {}

Index EntryCut::pieces() const {
  return std::max<Index>(first_piece(sizes_.size()), 1);
}

Index EntryCut::first_piece(std::size_t content) const {
  Index count = 0;
  for (std::size_t k = 0; k < content; ++k) count += pieces_of(sizes_[k]);
  return count;
}

EntryCut::Piece EntryCut::piece(Index p) const {
  Piece piece{0, 0, 0, 0, p + 1 == pieces()};
  for (const std::uint64_t size : sizes_) {
    if (p < pieces_of(size)) {
      piece.first = std::uint64_t(p) * kPiece;
      piece.size = std::size_t(std::min<std::uint64_t>(kPiece, size - piece.first));
      piece.before = std::size_t(std::min<std::uint64_t>(kWindow, piece.first));
      return piece;
    }
    p -= pieces_of(size);
    ++piece.content;
  }
  return piece;
}

std::vector<EntryCut::Sample> EntryCut::samples() const {
  constexpr std::uint64_t kSample = std::uint64_t{1} << 16, kLarge = std::uint64_t{1} << 20;
  std::uint64_t whole = 0;
  for (const std::uint64_t size : sizes_) whole += size;
  std::vector<Sample> samples;
  if (whole < kLarge) return samples;
  for (std::size_t content = 0; content < sizes_.size(); ++content)
    for (const std::uint64_t thirds : {0, 1, 2}) {
      const std::uint64_t size = sizes_[content], first = size / 3 * thirds;
      samples.push_back({content, first, std::size_t(std::min(kSample, size - first))});
    }
  return samples;
}

int EntryCut::level() const {
  // What takes seconds to pack is packed somewhat less tightly in a fifth of the time.
  constexpr Index kManyPieces = 16;
  return pieces() > kManyPieces ? 2 : 6;
}

bool is_worth_packing(const EntryCut& cut, const std::vector<ReadBytes>& contents) {
  constexpr double kWorthwhile = 0.9;
  const std::vector<EntryCut::Sample> samples = cut.samples();
  std::size_t whole = 0, packed = 0;
  std::string room;
  for (const EntryCut::Sample& sample : samples) {
    const std::string_view bytes = contents[sample.content](sample.first, sample.size, room);
    whole += bytes.size();
    packed += deflated(bytes, {}, true, cut.level()).size();
  }
  return samples.empty() || double(packed) < kWorthwhile * double(whole);
}

void PackedSize::append(const PackedSize& next) {
  checksum = ::crc32_combine(uLong(checksum), uLong(next.checksum), static_cast<z_off_t>(next.size));
  size += next.size;
  packed_size += next.packed_size;
}

PackedPieces::PackedPieces(const EntryCut& cut, std::vector<ReadBytes> contents, Index first, Index end,
                           bool packs, int threads)
    : cut_(cut),
      contents_(std::move(contents)),
      first_(first),
      packs_(packs),
      packed_(std::size_t(end - first)) {
  const int level = cut_.level();
  parallel_for(Index(packed_.size()), threads, [&](Index p) {
    const EntryCut::Piece piece = cut_.piece(first_ + p);
    const std::size_t before = packs_ ? piece.before : 0;
    std::string room;
    std::string_view bytes;
    if (piece.size > 0) bytes = contents_[piece.content](piece.first - before, before + piece.size, room);
    const std::string_view content = bytes.substr(before);
    Packed& packed = packed_[std::size_t(p)];
    if (packs_) packed.bytes = deflated(content, bytes.substr(0, before), piece.is_last, level);
    packed.size = {content.size(), packs_ ? packed.bytes.size() : content.size(),
                   ::crc32_z(0, zip_buffer(content.data()), content.size())};
  });
}

PackedSize PackedPieces::size() const {
  PackedSize all;
  for (const Packed& packed : packed_) all.append(packed.size);
  return all;
}

void PackedPieces::write(const Sink& sink) const {
  std::string room;
  for (std::size_t p = 0; p < packed_.size(); ++p) {
    const EntryCut::Piece piece = cut_.piece(first_ + Index(p));
    if (packs_)
      sink(packed_[p].bytes);
    else if (piece.size > 0)
      sink(contents_[piece.content](piece.first, piece.size, room));
  }
}

}  // namespace pursuit::io
