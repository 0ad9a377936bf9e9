#pragma once
// A matrix of which some entries were seen, in row order and in column order: whatever an update of one side
// needs is one stream through memory. 16 bytes per entry, 21 at most while it is made.

#include <cstdint>
#include <utility>
#include <vector>

#include "pursuit/data/observed_entries.hpp"

namespace pursuit {

/// Entries grouped by row (or by column): those of i are start[i] .. start[i + 1] - 1, ascending in `index`.
struct GroupedEntries {
  std::vector<std::int64_t> start;
  std::vector<int> index;  // the column (or the row)
  std::vector<float> value;

  Index size() const { return Index(start.size()) - 1; }
  Index count(Index i) const { return start[i + 1] - start[i]; }
};

/// InvalidInput, naming the entry, where an index lies outside or a value is not finite, or where there is
/// none.
void require_valid(const ObservedEntries& entries, int threads = 1);

/// Valid entries by row, each row's in the order in which they come.
GroupedEntries grouped_in_order(const ObservedEntries& entries, int threads = 1);

/// Each group ascending; where an index comes twice, the order of its values is any.
void sort_groups(GroupedEntries& groups, int threads = 1);

/// Valid entries by row, each row's ascending by column.
GroupedEntries grouped_by_row(ObservedEntries entries, int threads = 1);

/// The first group with an index that it has twice, and that index; -1, -1 where there is none.
std::pair<Index, int> first_repeated(const GroupedEntries& groups, int threads = 1);

class ObservedMatrix {
 public:
  /// Takes the entries over. InvalidInput, naming the entry, where they are not valid or a pair occurs twice.
  explicit ObservedMatrix(ObservedEntries entries, int threads = 1);

  Index rows() const { return by_row_.size(); }
  Index cols() const { return by_col_.size(); }
  Index size() const { return Index(by_row_.index.size()); }
  /// Gives the entries back, in row order, and leaves this empty.
  ObservedEntries release(int threads = 1);

  /// Keeps the row order alone.
  GroupedEntries take_by_row() && { return std::move(by_row_); }
  /// By row and by column.
  std::pair<GroupedEntries, GroupedEntries> take() && { return {std::move(by_row_), std::move(by_col_)}; }

  const GroupedEntries& by_row() const { return by_row_; }
  const GroupedEntries& by_col() const { return by_col_; }

 private:
  GroupedEntries by_row_, by_col_;
};

/// Entries of a matrix of at most as many rows and columns, with new ones, which win.
ObservedEntries merged(const GroupedEntries& old, ObservedEntries fresh);

/// Entries of rows first .. last - 1 that only one of the two has, and those with another value, of matrices
/// of any size.
Index count_changes(const GroupedEntries& old, const GroupedEntries& now, Index first, Index last);

}  // namespace pursuit
