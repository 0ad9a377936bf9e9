#pragma once
// An entry of a zip archive in pieces, each packed on its own by whoever has its bytes. How it is cut depends
// on its sizes alone, so that the bytes of an archive do not tell how many have made it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/text_writer.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

/// Reads so many bytes from a place on, where they lie or put into `room`. Several threads may read at once.
using ReadBytes = std::function<std::string_view(std::uint64_t first, std::size_t count, std::string& room)>;
ReadBytes bytes_in_place(std::string_view bytes);

/// The contents of an entry, which follow one another, cut into pieces. No piece lies in two contents.
class EntryCut {
 public:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  static constexpr std::size_t kWindow = std::size_t{1} << 15;  // before a piece, that it may refer to

  struct Piece {
    std::size_t content;
    std::uint64_t first;
    std::size_t size, before;  // before: that may be referred to
    bool is_last;
  };
  struct Sample {
    std::size_t content;
    std::uint64_t first;
    std::size_t size;
  };

  explicit EntryCut(std::vector<std::uint64_t> sizes);
  /// One even where there is nothing to pack.
  Index pieces() const;
  Piece piece(Index p) const;
  Index first_piece(std::size_t content) const;  // or, where it has none, of the next one
  /// What is packed to see whether the rest should be; none of an entry that is always packed.
  std::vector<Sample> samples() const;
  int level() const;

 private:
  static Index pieces_of(std::uint64_t size) { return Index((size + kPiece - 1) / kPiece); }

  std::vector<std::uint64_t> sizes_;
};

/// Whether packing a large entry is worth its time: numbers without a pattern, as factors are, keep nine
/// tenths of their size and more. Samples tell, which depend on the contents alone.
bool is_worth_packing(const EntryCut& cut, const std::vector<ReadBytes>& contents);

/// What the header of an entry says, of an entry or of pieces of it.
struct PackedSize {
  std::uint64_t size = 0, packed_size = 0, checksum = 0;
  void append(const PackedSize& next);
};

/// The pieces `first` ... `end` - 1 of an entry. Where it is worthwhile they stand here packed, otherwise
/// they are read again when they are written.
class PackedPieces {
 public:
  PackedPieces(const EntryCut& cut, std::vector<ReadBytes> contents, Index first, Index end, bool packs,
               int threads);
  PackedSize size() const;
  void write(const Sink& sink) const;

 private:
  struct Packed {
    std::string bytes;
    PackedSize size;
  };

  EntryCut cut_;
  std::vector<ReadBytes> contents_;
  Index first_;
  bool packs_;
  std::vector<Packed> packed_;
};

}  // namespace pursuit::io
