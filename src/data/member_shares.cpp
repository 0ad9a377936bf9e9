#include "data/member_shares.hpp"

#include <algorithm>
#include <bit>

namespace pursuit {
namespace {

constexpr Index kMostChunks = 256;

}  // namespace

MemberShares MemberShares::by_entries(const std::vector<std::int64_t>& start, Ranks* ranks) {
  const Index members = Index(start.size()) - 1;
  const auto work_before = [&](Index member) { return start[member] + kWorkOfAMember * member; };
  const auto chunks =
      Index(std::bit_floor(std::uint64_t(std::clamp<Index>(members / kMembersOfAChunk, 1, kMostChunks))));
  std::vector<Index> cuts;
  cuts.reserve(std::size_t(chunks) + 1);
  for (Index chunk = 0, member = 0; chunk < chunks; ++chunk) {
    const Index wanted = work_before(members) / chunks * chunk;
    while (member < members && work_before(member) + work_before(member + 1) < 2 * wanted) ++member;
    cuts.push_back(member);
  }
  cuts.push_back(members);
  return {std::move(cuts), ranks};
}

std::vector<Index> MemberShares::first_members() const {
  std::vector<Index> all;
  all.reserve(std::size_t(ranks()) + 1);
  for (int rank = 0; rank <= ranks(); ++rank) all.push_back(first(rank));
  return all;
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

template <class PartOf>
void SharingRound::between_machines(const PartOf& part_of) {
  const int own = ranks_->rank(), here = ranks_->machine_of(own), machines = int(ranks_->machines().size());
  for (int step = 1; step < machines; ++step) {  // nobody is the first whom all write to
    const int to = ranks_->receiver((here + step) % machines, own);
    outgoing_.push_back(part_of(own, to));
    for (const int from : ranks_->machines()[std::size_t((here + machines - step) % machines)])
      if (ranks_->receiver(here, from) == own) incoming_.push_back(part_of(from, from));
  }
}

void SharingRound::share(const MemberShares& shares, std::initializer_list<MemberShares::Table> tables) {
  ranks_ = shares.ranks_;
  if (!ranks_) return;
  for (const MemberShares::Table& table : tables)
    between_machines([&](int rank, int other) { return shares.rows_of(rank, table, other); });
}

void SharingRound::bring_together(const MemberShares& shares, TreeFold<Vector>& own, Index numbers,
                                  Vector& result) {
  const int size = shares.ranks();
  if (size == 1) {
    result = std::move(own.nodes().front().part);
    return;
  }
  ranks_ = shares.ranks_;
  Sum& sum = sums_.emplace_back();
  sum.result = &result;
  sum.numbers = numbers;
  sum.first_of.push_back(0);
  for (int rank = 0; rank < size; ++rank) {
    const auto theirs = subtrees(shares.first_chunk(rank), shares.first_chunk(rank + 1));
    sum.subtrees.insert(sum.subtrees.end(), theirs.begin(), theirs.end());
    sum.first_of.push_back(sum.subtrees.size());
  }
  sum.own.resize(numbers, Index(own.nodes().size()));
  for (Index node = 0; node < sum.own.cols(); ++node) sum.own.col(node) = own.nodes()[std::size_t(node)].part;
}

/// Sums of subtrees stand side by side, of one sum after the other.
void SharingRound::write_sums(double* board) {
  for (const Sum& sum : sums_) {
    const auto of_rank = [&](int rank, int other) -> Parcel {
      const std::size_t first = sum.first_of[std::size_t(rank)], last = sum.first_of[std::size_t(rank) + 1];
      return {other, board + Index(first) * sum.numbers,
              (last - first) * std::size_t(sum.numbers) * sizeof(double)};
    };
    const Parcel own = of_rank(ranks_->rank(), ranks_->rank());
    std::copy_n(sum.own.data(), sum.own.size(), static_cast<double*>(own.data));
    between_machines(of_rank);
    board += Index(sum.subtrees.size()) * sum.numbers;
  }
}

void SharingRound::read_sums(const double* board) {
  for (const Sum& sum : sums_) {
    TreeFold<Vector> all;
    for (const auto& subtree : sum.subtrees) {
      all.push(subtree.level, subtree.index, Eigen::Map<const Vector>(board, sum.numbers));
      board += sum.numbers;
    }
    *sum.result = std::move(all.nodes().front().part);
  }
}

void SharingRound::run() {
  if (!ranks_ || ranks_->size() == 1) return;
  std::size_t numbers = 0;
  for (const Sum& sum : sums_) numbers += sum.subtrees.size() * std::size_t(sum.numbers);
  double* board = numbers > 0 ? static_cast<double*>(ranks_->board(numbers * sizeof(double))) : nullptr;
  write_sums(board);
  ranks_->exchange(outgoing_, incoming_);
  ranks_->meet();
  read_sums(board);
}

}  // namespace pursuit
