#pragma once
// How threads share the entries of a side: whole rows, or where a row is long, segments of it. The cuts
// depend on the entries alone, so that sums over them are the same bits for any number of threads. Where
// there are several ranks, each has rows of its own.

#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "completion/batched_cholesky.hpp"
#include "data/member_shares.hpp"
#include "pursuit/data/observed_matrix.hpp"

namespace pursuit {

class EntryTasks {
 public:
  /// The entries must outlive this, and so must their weights, which are in the same order; null where all
  /// count once.
  explicit EntryTasks(const GroupedEntries& entries, const std::vector<float>* weights = nullptr,
                      Ranks* ranks = nullptr)
      : EntryTasks(entries, weights, MemberShares(entries, ranks)) {}
  /// Entries of the rows that `shares` gives to this rank; others may be missing. `start` says where those of
  /// every row would begin if all were here; null where they are.
  EntryTasks(const GroupedEntries& entries, const std::vector<float>* weights, MemberShares shares,
             const std::vector<std::int64_t>* start = nullptr);

  struct Rows {
    Index first, last;  // whole batches of kSystems, as far as they are this rank's
  };
  struct Segment {
    Index row;
    std::int64_t first, last;  // entries
  };

  const GroupedEntries& entries() const { return *entries_; }
  const std::vector<float>* weights() const { return weights_; }
  const MemberShares& shares() const { return shares_; }
  /// From an entry on, or null.
  const float* weight_of(std::int64_t entry) const { return weights_ ? weights_->data() + entry : nullptr; }
  Index size() const { return entries_->size(); }
  /// Of any row, whoever has its entries.
  Index count(Index row) const { return Index((*start_)[row + 1] - (*start_)[row]); }
  /// Of all rows.
  Index count_all() const { return Index(start_->back()); }
  /// Where entries of every row begin among those of all.
  const std::vector<std::int64_t>& start_of_all() const { return *start_; }
  Index segments() const { return Index(segments_.size()); }
  bool is_long(Index row) const { return entries_->count(row) > kSegment; }
  /// Numbers of the segments of a long row: what is summed over them is added in this order.
  std::pair<Index, Index> segments_of(Index row) const;

  /// of_segment(number, segment) for every segment; when all are done, of_rows(first, last) for all rows of
  /// this rank, the long ones among them.
  template <class OfSegment, class OfRows>
  void share(int threads, const OfSegment& of_segment, const OfRows& of_rows) const {
    parallel_for(segments(), threads, [&](Index s) { of_segment(s, segments_[std::size_t(s)]); });
    parallel_for(Index(tasks_.size()), threads, [&](Index t) {
      const Rows& rows = tasks_[std::size_t(t)];
      of_rows(rows.first, rows.last);
    });
  }

 private:
  static constexpr Index kSegment = 4096;

  const GroupedEntries* entries_;
  const std::vector<float>* weights_;
  const std::vector<std::int64_t>* start_;
  MemberShares shares_;
  std::vector<Rows> tasks_;  // the heaviest first, so that nobody is waited for long at the end
  std::vector<Segment> segments_;
};

}  // namespace pursuit
