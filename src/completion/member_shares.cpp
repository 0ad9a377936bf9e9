#include "completion/member_shares.hpp"

#include <algorithm>
#include <bit>

#include "completion/batched_cholesky.hpp"

namespace pursuit {
namespace {

constexpr Index kMostChunks = 256;

/// The tree without its sums: which nodes a rank ends with.
struct NoSum {
  void operator+=(NoSum) const {}
};

}  // namespace

MemberShares::MemberShares(const GroupedEntries& entries, Ranks* ranks) : ranks_(ranks) {
  const Index members = entries.size();
  const auto work_before = [&](Index member) { return entries.start[member] + kWorkOfAMember * member; };
  const auto chunks =
      Index(std::bit_floor(std::uint64_t(std::clamp<Index>(members / kSystems, 1, kMostChunks))));
  cuts_.reserve(std::size_t(chunks) + 1);
  for (Index chunk = 0, member = 0; chunk < chunks; ++chunk) {
    const Index wanted = work_before(members) / chunks * chunk;
    while (member < members && work_before(member) < wanted) member = std::min(member + kSystems, members);
    cuts_.push_back(member);
  }
  cuts_.push_back(members);
}

Parcel MemberShares::rows_of(int owner, const Table& table, int other) const {
  return {other, static_cast<char*>(table.data) + std::size_t(first(owner)) * table.row_bytes,
          std::size_t(first(owner + 1) - first(owner)) * table.row_bytes};
}

void MemberShares::deal(std::initializer_list<Table> tables) const {
  if (ranks() == 1) return;
  std::vector<Parcel> outgoing, incoming;
  for (const Table& table : tables) {
    for (int other = 1; other < ranks() && rank() == 0; ++other)
      outgoing.push_back(rows_of(other, table, other));
    if (rank() != 0) incoming.push_back(rows_of(rank(), table, 0));
  }
  ranks_->exchange(outgoing, incoming);
}

void MemberShares::collect(std::initializer_list<Table> tables) const {
  if (ranks() == 1) return;
  std::vector<Parcel> outgoing, incoming;
  for (const Table& table : tables) {
    for (int other = 1; other < ranks() && rank() == 0; ++other)
      incoming.push_back(rows_of(other, table, other));
    if (rank() != 0) outgoing.push_back(rows_of(rank(), table, 0));
  }
  ranks_->exchange(outgoing, incoming);
}

void SharingRound::share(const MemberShares& shares, std::initializer_list<MemberShares::Table> tables) {
  const int size = shares.ranks(), own = shares.rank();
  ranks_ = shares.ranks_;
  for (const MemberShares::Table& table : tables)
    for (int step = 1; step < size; ++step) {  // nobody is the first whom all write to
      const int to = (own + step) % size, from = (own + size - step) % size;
      outgoing_.push_back(shares.rows_of(own, table, to));
      incoming_.push_back(shares.rows_of(from, table, from));
    }
}

void SharingRound::bring_together(const MemberShares& shares, TreeFold<Vector>& own, Index numbers,
                                  Vector& result) {
  const int size = shares.ranks(), me = shares.rank();
  if (size == 1) {
    result = std::move(own.nodes().front().part);
    return;
  }
  ranks_ = shares.ranks_;
  Sum& sum = sums_.emplace_back();
  sum.result = &result;
  std::vector<std::size_t> first_of{0};  // subtree of every rank, and behind the last
  for (int rank = 0; rank < size; ++rank) {
    TreeFold<NoSum> theirs;
    for (Index chunk = shares.first_chunk(rank); chunk < shares.first_chunk(rank + 1); ++chunk)
      theirs.push(0, chunk, {});
    for (const auto& node : theirs.nodes()) sum.subtrees.push_back({node.level, node.index});
    first_of.push_back(sum.subtrees.size());
  }
  sum.parts.resize(numbers, Index(sum.subtrees.size()));
  const auto parts_of = [&](int rank, int other) -> Parcel {
    const std::size_t first = first_of[std::size_t(rank)], count = first_of[std::size_t(rank) + 1] - first;
    return {other, sum.parts.data() + Index(first) * numbers, count * std::size_t(numbers) * sizeof(double)};
  };
  auto place = Index(first_of[std::size_t(me)]);
  for (const auto& node : own.nodes()) sum.parts.col(place++) = node.part;
  for (int other = 0; other < size; ++other) {
    if (other == me) continue;
    outgoing_.push_back(parts_of(me, other));
    incoming_.push_back(parts_of(other, other));
  }
}

void SharingRound::run() {
  if (ranks_ && ranks_->size() > 1) ranks_->exchange(outgoing_, incoming_);
  for (Sum& sum : sums_) {
    TreeFold<Vector> all;
    for (std::size_t node = 0; node < sum.subtrees.size(); ++node)
      all.push(sum.subtrees[node].level, sum.subtrees[node].index, sum.parts.col(Index(node)));
    *sum.result = std::move(all.nodes().front().part);
  }
}

}  // namespace pursuit
