#include "data/mailing.hpp"

#include <algorithm>
#include <utility>

namespace pursuit {
namespace {

std::vector<std::uint16_t> owners_of(const std::vector<Index>& first_members) {
  std::vector<std::uint16_t> owner(std::size_t(first_members.back()));
  for (std::size_t rank = 0; rank + 1 < first_members.size(); ++rank)
    std::fill(owner.begin() + first_members[rank], owner.begin() + first_members[rank + 1],
              std::uint16_t(rank));
  return owner;
}

}  // namespace

Mailing::Mailing(Ranks& ranks, const std::vector<int>& member, const std::vector<Index>& first_members,
                 int threads)
    : Mailing(ranks, member, owners_of(first_members), threads) {}

Mailing::Mailing(Ranks& ranks, const std::vector<int>& member, std::vector<std::uint16_t> owner, int threads)
    : ranks_(ranks),
      chunks_(Index(member.size()), 1 << 14),
      threads_(threads),
      member_(member),
      owner_(std::move(owner)),
      next_(std::size_t(chunks_.count())) {
  const auto owners = std::size_t(ranks.size());
  parallel_for(chunks_.count(), threads, [&](Index chunk) {
    std::vector<std::int64_t>& own = next_[std::size_t(chunk)];
    own.assign(owners, 0);
    for_chunk(chunk, [&](std::size_t, std::size_t rank) { ++own[rank]; });
  });
  sent_.assign(owners + 1, 0);
  std::vector<std::int64_t> counts(owners);
  for (std::size_t rank = 0; rank < owners; ++rank) {
    sent_[rank + 1] = sent_[rank];
    for (auto& own : next_) {
      const std::int64_t first = sent_[rank + 1];
      sent_[rank + 1] += std::exchange(own[rank], first);
    }
    counts[rank] = sent_[rank + 1] - sent_[rank];
  }
  coming_.assign(owners + 1, 0);
  std::vector<Parcel> outgoing, incoming;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    outgoing.push_back({rank, &counts[std::size_t(rank)], sizeof(std::int64_t)});
    incoming.push_back({rank, &coming_[std::size_t(rank) + 1], sizeof(std::int64_t)});
  }
  ranks.exchange(outgoing, incoming);
  for (std::size_t rank = 0; rank < owners; ++rank) coming_[rank + 1] += coming_[rank];
}

}  // namespace pursuit
