#pragma once
// The rows of a matrix that ranks share, as far as one of them owns them: which they are, and blocks of them.

#include <memory>
#include <utility>
#include <vector>

#include "data/ranked_rows.hpp"
#include "io/stored_matrix.hpp"

namespace pursuit::io {

/// A matrix that keeps the memory in which its numbers are.
inline DataMatrixPtr owning(DataMatrixPtr matrix, std::shared_ptr<const void> owner) {
  const DataMatrix* bare = matrix.get();
  return {bare, [matrix = std::move(matrix), owner = std::move(owner)](const DataMatrix*) {}};
}

/// Rank 0's cuts to all.
inline RowCuts cuts_of_leader(Ranks& ranks, const RowCuts& cuts) {
  std::vector<Index> first_rows = cuts.first_rows();
  Index size = Index(first_rows.size());
  ranks.broadcast(&size, sizeof size);
  first_rows.resize(std::size_t(size));
  ranks.broadcast(first_rows.data(), first_rows.size() * sizeof(Index));
  return RowCuts(std::move(first_rows));
}

class OwnRows {
 public:
  OwnRows(const Ranks& ranks, const RowCuts& cuts) : rank_(ranks.rank()), size_(ranks.size()), cuts_(cuts) {}

  Index first_block() const { return cuts_.first_block(rank_, size_); }
  Index last_block() const { return cuts_.first_block(rank_ + 1, size_); }
  Index first(int rank) const { return cuts_.first_row(rank, size_); }
  Index count(int rank) const { return first(rank + 1) - first(rank); }
  Index first() const { return first(rank_); }
  Index count() const { return count(rank_); }

  /// of_block(b) for every block of this rank; null for one without rows.
  template <class OfBlock>
  std::vector<DataMatrixPtr> blocks(const OfBlock& of_block) const {
    std::vector<DataMatrixPtr> own;
    own.reserve(std::size_t(last_block() - first_block()));
    for (Index b = first_block(); b < last_block(); ++b)
      own.push_back(cuts_.length(b) == 0 ? nullptr : of_block(b));
    return own;
  }

  /// Blocks of the rows that are owned here, which lie one after the other.
  template <class Scalar>
  std::vector<DataMatrixPtr> dense_blocks(const DenseArray<Scalar>& own, int threads) const {
    return blocks([&](Index b) {
      return owning(data_matrix(own.view.row_block(cuts_.first(b) - first(), cuts_.length(b)), threads),
                    own.owner);
    });
  }

 private:
  int rank_, size_;
  const RowCuts& cuts_;
};

/// What ranks have read together.
struct RankedTable {
  RankedRows rows;
  bool dense = false, single = false;
  bool dealt = false;  // by rank 0, which has read it
  Index stored = 0;
  int threads = 1;
  std::vector<std::string> row_names = {}, column_names = {};  // of rank 0
};

}  // namespace pursuit::io
