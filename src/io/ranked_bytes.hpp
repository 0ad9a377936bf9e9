#pragma once
// Bytes that many ranks have together, and what a rank may read of them.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/zip_pieces.hpp"
#include "pursuit/base/ranks.hpp"

namespace pursuit::io {

/// Bytes of which every rank has a part, one part after the other in the order of ranks. Parts may be empty.
struct RankedBytes {
  std::vector<std::uint64_t> cuts;  // where the part of each rank begins, and where the last one ends
  ReadBytes own;                    // counted from where the own part begins
};

struct ByteRange {
  std::uint64_t first, end;
};

/// The part of a rank, and copies of what it needs of the parts of others.
class BytesInReach {
 public:
  /// What any rank needs, which all ranks know of each other.
  using Needs = std::function<std::vector<ByteRange>(int rank)>;
  BytesInReach(const Ranks& ranks, RankedBytes bytes, const Needs& needs);
  /// Brings it to where it is needed; all ranks call it together.
  void bring(Ranks& ranks);
  /// Of the own part, and of what was needed.
  std::string_view read(std::uint64_t first, std::size_t count, std::string& room) const;

 private:
  struct Copy {
    int rank;  // that has it, or needs it
    std::uint64_t first;
    std::string bytes;
  };
  std::uint64_t begin() const { return bytes_.cuts[std::size_t(rank_)]; }
  std::uint64_t end() const { return bytes_.cuts[std::size_t(rank_) + 1]; }
  std::vector<ByteRange> lent(int owner, const std::vector<ByteRange>& needed) const;
  std::string_view run(std::uint64_t first, std::uint64_t last, std::string& room) const;

  int rank_;
  RankedBytes bytes_;
  std::vector<Copy> lent_, borrowed_;
};

}  // namespace pursuit::io
