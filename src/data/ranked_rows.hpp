#pragma once
// A matrix whose rows are owned by ranks, in blocks that the data alone fix: each block is a matrix of its
// own, every number of A V has one owner, and A^T U is a sum over blocks along one binary tree. The bits of a
// result depend on the blocks, never on who owns them.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pursuit/base/ranks.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// Where the rows of a matrix are cut into blocks, a power of two of them.
class RowCuts {
 public:
  static constexpr Index kMostBlocks = 64;

  explicit RowCuts(std::vector<Index> first_rows) : first_(std::move(first_rows)) {}
  static RowCuts of_dense(Index rows);
  /// Entries before each row, and all of them at the end.
  static RowCuts by_entries(std::span<const int> entries_before);
  static RowCuts by_entries(std::span<const std::int64_t> entries_before);

  Index blocks() const { return Index(first_.size()) - 1; }
  Index rows() const { return first_.back(); }
  Index first(Index block) const { return first_[std::size_t(block)]; }
  Index length(Index block) const { return first(block + 1) - first(block); }
  /// The blocks of a rank end where those of the next begin.
  Index first_block(int rank, int ranks) const { return blocks() * rank / ranks; }
  Index first_row(int rank, int ranks) const { return first(first_block(rank, ranks)); }

  const std::vector<Index>& first_rows() const { return first_; }

 private:
  std::vector<Index> first_;  // blocks + 1
};

class RankedSides;

/// What rank 0 asks of all.
enum class Order : std::int64_t {
  multiply,
  multiply_transposed,
  multiply_gram,
  norm,
  norm_about,
  distance,
  largest,
  sparse,  // whether any block is
  scale,
  shift,
  release,
  read,
  ratings,
  store,     // entries of a completion, in a file
  entries,   // of a completion: `columns` says what of them
  complete,  // `columns` says which step of it
  sweeps,    // of a factorization
  fits,      // of all its factors along a mode
  observed,  // entries of a completion by atoms: `result` says what of them
  implicit,  // those of implicit feedback
  end,
};
struct Job {
  Order order;
  std::int64_t matrix = 0;   // that is meant, or made
  std::int64_t columns = 0;  // of the factor that comes with it
  std::int64_t result = 0;   // the matrix that is made of another
  double number = 0;
};

/// The blocks of one rank. All ranks call perform() with the same job; factors are looked at and results
/// returned on rank 0.
class RankedRows {
 public:
  /// Blocks without rows are null.
  RankedRows(Ranks& ranks, RowCuts cuts, Index cols, std::vector<DataMatrixPtr> own);

  Ranks& ranks() const { return ranks_; }
  const RowCuts& cuts() const { return cuts_; }
  const std::vector<DataMatrixPtr>& own() const { return own_; }
  /// Made when it is first asked for, by all ranks together.
  const RankedSides& sides() const;
  Index cols() const { return cols_; }

  /// `shared` has a row for every column of the matrix, `by_rows` one for every row.
  Matrix perform(const Job& job, const Matrix& shared, const Matrix& by_rows) const;
  /// A matrix made of this one, by scale or shift.
  RankedRows changed(const Job& job, const Vector& shift) const;

 private:
  /// The sum of of_block(block, first, count) over all blocks of all ranks.
  template <class OfBlock>
  Matrix number(const OfBlock& of_block) const;
  /// The largest of of_block(block), and 0.
  template <class OfBlock>
  Matrix largest(const OfBlock& of_block) const;
  double squared_distance(const Matrix& L, const Matrix& R, Index columns) const;
  Vector to_all(const Matrix& row) const;

  Ranks& ranks_;
  RowCuts cuts_;
  Index cols_;
  std::vector<DataMatrixPtr> own_;
  mutable std::shared_ptr<const RankedSides> sides_;
};

}  // namespace pursuit
