#include "io/ranked_bytes.hpp"

#include <algorithm>
#include <utility>

namespace pursuit::io {

BytesInReach::BytesInReach(const Ranks& ranks, RankedBytes bytes, const Needs& needs)
    : rank_(ranks.rank()), bytes_(std::move(bytes)) {
  std::string room;
  const std::vector<ByteRange> own_needs = needs(rank_);
  for (int other = 0; other < ranks.size(); ++other) {
    if (other == rank_) continue;
    for (const auto& [first, last] : lent(rank_, needs(other)))
      lent_.push_back(
          {other, first, std::string(bytes_.own(first - begin(), std::size_t(last - first), room))});
    for (const auto& [first, last] : lent(other, own_needs))
      borrowed_.push_back({other, first, std::string(std::size_t(last - first), '\0')});
  }
}

/// In the order in which they are needed: the one that lends and the one that borrows say the same.
std::vector<ByteRange> BytesInReach::lent(int owner, const std::vector<ByteRange>& needed) const {
  std::vector<ByteRange> ranges;
  for (const ByteRange& range : needed) {
    const std::uint64_t first = std::max(range.first, bytes_.cuts[std::size_t(owner)]),
                        last = std::min(range.end, bytes_.cuts[std::size_t(owner) + 1]);
    if (first < last) ranges.push_back({first, last});
  }
  return ranges;
}

void BytesInReach::bring(Ranks& ranks) {
  std::vector<Parcel> outgoing, incoming;
  for (Copy& copy : lent_) outgoing.push_back({copy.rank, copy.bytes.data(), copy.bytes.size()});
  for (Copy& copy : borrowed_) incoming.push_back({copy.rank, copy.bytes.data(), copy.bytes.size()});
  ranks.exchange(outgoing, incoming);
  lent_.clear();
}

std::string_view BytesInReach::read(std::uint64_t first, std::size_t count, std::string& room) const {
  const std::uint64_t last = first + count;
  if (begin() <= first && last <= end()) return bytes_.own(first - begin(), count, room);
  std::string part;
  room.clear();
  for (room.reserve(count); room.size() < count;) room += run(first + room.size(), last, part);
  return room;
}

/// As many of these bytes as lie in one place.
std::string_view BytesInReach::run(std::uint64_t first, std::uint64_t last, std::string& room) const {
  if (begin() <= first && first < end())
    return bytes_.own(first - begin(), std::size_t(std::min(last, end()) - first), room);
  const auto copy = std::find_if(borrowed_.begin(), borrowed_.end(), [&](const Copy& one) {
    return one.first <= first && first < one.first + one.bytes.size();
  });
  return std::string_view(copy->bytes).substr(std::size_t(first - copy->first), std::size_t(last - first));
}

}  // namespace pursuit::io
