#pragma once
// Lists whose numbers go to different ranks, one list after the other.

#include <cstdint>
#include <vector>

#include "base/chunks.hpp"
#include "base/fresh_pages.hpp"
#include "pursuit/base/ranks.hpp"

namespace pursuit {

/// All ranks make one together, each with a list of the members that its numbers belong to; `owner` says
/// which rank is to have those of a member.
class Mailing {
 public:
  Mailing(Ranks& ranks, const std::vector<int>& member, std::vector<std::uint16_t> owner, int threads);
  /// Members between first_members[rank] and the next one are that rank's.
  Mailing(Ranks& ranks, const std::vector<int>& member, const std::vector<Index>& first_members, int threads);

  /// Numbers that stand beside the members, to their owners: in the order of ranks, and of each rank in the
  /// order that it had. All ranks call it.
  template <class Number>
  std::vector<Number> send(const std::vector<Number>& numbers) const;

 private:
  template <class Use>
  void for_chunk(Index chunk, const Use& use) const {
    for (Index e = chunks_.first(chunk); e < chunks_.first(chunk + 1); ++e)
      use(std::size_t(e), std::size_t(owner_[std::size_t(member_[std::size_t(e)])]));
  }

  Ranks& ranks_;
  Chunks chunks_;
  int threads_;
  const std::vector<int>& member_;
  std::vector<std::uint16_t> owner_;
  std::vector<std::vector<std::int64_t>> next_;  // of every chunk: where its numbers for each rank begin
  std::vector<std::int64_t> sent_, coming_;      // ends of what goes to each rank, and comes from it
};

template <class Number>
std::vector<Number> Mailing::send(const std::vector<Number>& numbers) const {
  std::vector<Number> packed, received;
  resize_on(threads_, packed, numbers.size());
  parallel_for(chunks_.count(), threads_, [&](Index chunk) {
    std::vector<std::int64_t> next = next_[std::size_t(chunk)];
    for_chunk(chunk,
              [&](std::size_t e, std::size_t rank) { packed[std::size_t(next[rank]++)] = numbers[e]; });
  });
  resize_on(threads_, received, std::size_t(coming_.back()));
  const auto parcel = [](int rank, std::vector<Number>& list, const std::vector<std::int64_t>& ends) {
    const auto at = std::size_t(rank);
    return Parcel{rank, list.data() + ends[at], std::size_t(ends[at + 1] - ends[at]) * sizeof(Number)};
  };
  std::vector<Parcel> outgoing, incoming;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    outgoing.push_back(parcel(rank, packed, sent_));
    incoming.push_back(parcel(rank, received, coming_));
  }
  ranks_.exchange(outgoing, incoming);
  return received;
}

}  // namespace pursuit
