#pragma once
// The entries that a completion is made from, in row order and in column order. All of them are here; or they
// are shared out among ranks, each of which has those of its own rows and of its own columns, and nobody has
// all. Members are cut by the entries of all, those held back among them, so that nothing that is added up
// along these cuts depends on how many ranks there are.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "completion/entry_tasks.hpp"
#include "completion/units.hpp"
#include "completion/weighted_entries.hpp"

namespace pursuit {

class EntryPool {
 public:
  /// All ranks call it, each with some of the entries, in any order; rank 0 knows how large the matrix is,
  /// and whether entries have weights: then everyone has one for each of its entries. InvalidInput, on all
  /// ranks, where two entries are of the same place. Null ranks: there is one process.
  EntryPool(ObservedEntries some, std::vector<float> weights, Ranks* ranks, int threads);
  EntryPool(const EntryPool&) = delete;
  EntryPool& operator=(const EntryPool&) = delete;

  Index rows() const { return sides_[0].members(); }
  Index cols() const { return sides_[1].members(); }
  /// Entries of all ranks, but for those held back.
  Index size() const { return Index(sides_[0].start.back()); }
  int threads() const { return threads_; }
  /// Of this pool, on all of its ranks.
  std::uint64_t number() const { return number_; }
  std::shared_ptr<const EntryTasks> by_row() const { return sides_[0].tasks; }
  std::shared_ptr<const EntryTasks> by_col() const { return sides_[1].tasks; }
  /// Known to all ranks, by row.
  const WeightedEntries& held_back() const { return held_; }

  // All ranks call the rest together; what is given to it counts on rank 0.

  /// An entry that a loss does not take, the first by row and column.
  struct Refused {
    int row, col;
    float value;
  };
  std::optional<Refused> first_refused(Loss::Kind kind) const;
  ValueRange range() const;
  /// Of (value - center)^power, by the weights.
  WeightedMean mean(double center, int power) const;
  /// The same for the same entries with the same weights, in any order.
  std::uint64_t fingerprint() const;

  void divide_by(double unit);

  /// Takes a random share out of the entries.
  void hold_back(double share, std::uint64_t seed);
  void put_back();

  /// Puts back what is held back; entries by row have the values that they came with. Nothing is made of them
  /// after that: they are counted, and written.
  void restore();
  /// The same, and all of them by row, for rank 0; the pool of one process is empty then.
  GroupedEntries release_by_row();
  /// What ranks have of either order, together on rank 0.
  GroupedEntries whole(bool by_row) const;

  /// Entries that only one of the two has, and those with another value.
  Index count_changes(const GroupedEntries& old) const;
  /// How many of some places are those of entries.
  Index count_known(const ObservedEntries& places) const;

 private:
  struct Side {
    GroupedEntries own;
    std::vector<float> weights;
    std::vector<std::int64_t> start;  // of every member's entries among those of all
    std::shared_ptr<const EntryTasks> tasks;

    Index members() const { return Index(start.size()) - 1; }
  };

  void group_all(ObservedEntries entries, std::vector<float> weights);
  void share_out(ObservedEntries some, std::vector<float> weights);
  void group_own(int number, ObservedEntries entries, const std::vector<float>& weights);
  void require_once() const;
  void bind();
  void edit(int number, bool takes_out);
  /// use(row, column, value, weight) for all entries of some rows, as far as they are here.
  template <class Use>
  void for_own_rows(Index first, Index last, const Use& use) const;

  Ranks* ranks_;
  int threads_;
  std::uint64_t number_;
  bool weighted_ = false;
  Side sides_[2];  // rows, columns
  std::vector<MemberShares> shares_;
  WeightedEntries held_;
  std::vector<float> original_;  // values of own rows, where they are in another unit
};

}  // namespace pursuit
