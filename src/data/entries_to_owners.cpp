#include "data/entries_to_owners.hpp"

#include <algorithm>

#include "data/mailing.hpp"

namespace pursuit {

ObservedEntries to_owners(Ranks& ranks, const ObservedEntries& some, const std::vector<float>& values,
                          std::vector<int> ObservedEntries::*member, const std::vector<Index>& first_members,
                          int threads) {
  std::vector<std::uint16_t> owner(std::size_t(first_members.back()));
  for (std::size_t rank = 0; rank + 1 < first_members.size(); ++rank)
    std::fill(owner.begin() + first_members[rank], owner.begin() + first_members[rank + 1],
              std::uint16_t(rank));
  const Mailing mailing(ranks, some.*member, std::move(owner), threads);
  return {some.rows, some.cols, mailing.send(some.row), mailing.send(some.col), mailing.send(values)};
}

}  // namespace pursuit
