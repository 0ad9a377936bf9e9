#pragma once
// How ranks share the members of a side, and the features that say something of them: in chunks that the
// entries alone fix, consecutive ones to a rank, so that all have as much to do. Sums over members are added
// along one binary tree over the chunks: the same bits for any number of ranks and threads.

#include <initializer_list>
#include <vector>

#include "base/parallel.hpp"
#include "base/tree_fold.hpp"
#include "pursuit/base/ranks.hpp"
#include "pursuit/data/observed_matrix.hpp"

namespace pursuit {

/// What a member costs beside its entries, in entries.
constexpr Index kWorkOfAMember = 16;
/// On average a chunk has so many members, or more.
constexpr Index kMembersOfAChunk = 16;

class MemberShares {
 public:
  /// Members with entries start[i] .. start[i + 1] - 1, all of them here where `ranks` is null.
  static MemberShares by_entries(const std::vector<std::int64_t>& start, Ranks* ranks);
  MemberShares(const GroupedEntries& entries, Ranks* ranks)
      : MemberShares(by_entries(entries.start, ranks)) {}
  /// Cuts that were made elsewhere: where chunks begin, a power of two of them, and where the last ends.
  MemberShares(std::vector<Index> cuts, Ranks* ranks) : cuts_(std::move(cuts)), ranks_(ranks) {}

  const std::vector<Index>& cuts() const { return cuts_; }
  Index chunks() const { return Index(cuts_.size()) - 1; }
  Ranks* team() const { return ranks_; }
  int rank() const { return ranks_ ? ranks_->rank() : 0; }
  int ranks() const { return ranks_ ? ranks_->size() : 1; }
  /// The members of a rank end where those of the next begin.
  Index first(int rank) const { return cuts_[std::size_t(first_chunk(rank))]; }
  /// Of every rank, and behind the last.
  std::vector<Index> first_members() const;
  Index first() const { return first(rank()); }
  Index last() const { return first(rank() + 1); }

  Index first_chunk(int rank) const { return chunks() * rank / ranks(); }

  /// use(first, last) for the members of every chunk that belongs to this rank.
  template <class Use>
  void for_own(int threads, const Use& use) const {
    const Index begin = first_chunk(rank());
    parallel_for(first_chunk(rank() + 1) - begin, threads, [&](Index chunk) {
      const auto at = std::size_t(begin + chunk);
      use(cuts_[at], cuts_[at + 1]);
    });
  }

  /// Rows of numbers, one for every member.
  struct Table {
    void* data;
    std::size_t row_bytes;

    template <class Number>
    Table(Number* numbers, Index width) : data(numbers), row_bytes(std::size_t(width) * sizeof(Number)) {}
  };

  // All ranks call these together.

  /// Their own rows from rank 0 to everybody, and back.
  void deal(std::initializer_list<Table> tables) const;
  void collect(std::initializer_list<Table> tables) const;
  /// What rank 0 has in some container, which has the same size everywhere, to all.
  template <class Numbers>
  void from_leader(Numbers& numbers) const {
    if (ranks() > 1) ranks_->broadcast(numbers.data(), numbers.size() * sizeof(*numbers.data()));
  }

 private:
  friend class SharingRound;
  Parcel rows_of(int owner, const Table& table, int other) const;

  std::vector<Index> cuts_;
  Ranks* ranks_;
};

/// Sums and tables that ranks share in one exchange. All ranks make the same round.
class SharingRound {
 public:
  /// Everybody's own rows to all: of tables in memory that machines share, so that only other machines need
  /// to be told.
  void share(const MemberShares& shares, std::initializer_list<MemberShares::Table> tables);

  /// The sum over all members of `numbers` doubles: add(first, last, sums) adds what some have to say.
  template <class Add>
  void sum(const MemberShares& shares, Index numbers, int threads, Vector& result, const Add& add) {
    const Index begin = shares.first_chunk(shares.rank()),
                count = shares.first_chunk(shares.rank() + 1) - begin;
    std::vector<Vector> parts(static_cast<std::size_t>(count));
    parallel_for(count, threads, [&](Index chunk) {
      const auto at = std::size_t(begin + chunk);
      Vector& part = parts[std::size_t(chunk)] = Vector::Zero(numbers);
      add(shares.cuts_[at], shares.cuts_[at + 1], part.data());
    });
    TreeFold<Vector> own;
    for (Index chunk = 0; chunk < count; ++chunk)
      own.push(0, begin + chunk, std::move(parts[std::size_t(chunk)]));
    bring_together(shares, own, numbers, result);
  }

  /// Sums and tables are there afterwards.
  void run();

 private:
  struct Sum {
    std::vector<TreeFold<Unsummed>::Node> subtrees;
    std::vector<std::size_t> first_of;  // of every rank, and behind the last
    Index numbers;
    Matrix own;  // a column for each that is this rank's
    Vector* result;
  };
  void bring_together(const MemberShares& shares, TreeFold<Vector>& own, Index numbers, Vector& result);
  void write_sums(double* board);
  void read_sums(const double* board);
  /// part_of(rank, other): what some rank has for all, on its way from or to another one.
  template <class PartOf>
  void between_machines(const PartOf& part_of);

  Ranks* ranks_ = nullptr;
  std::vector<Parcel> outgoing_, incoming_;
  std::vector<Sum> sums_;
};

/// A round of one sum.
template <class Add>
Vector sum_over(const MemberShares& shares, Index numbers, int threads, const Add& add) {
  Vector result;
  SharingRound round;
  round.sum(shares, numbers, threads, result, add);
  round.run();
  return result;
}

}  // namespace pursuit
