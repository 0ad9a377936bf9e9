#pragma once
// Factors of both sides of a matrix over ranks, each in one memory that the ranks of a machine share, by
// rows, as gathers want them. Who writes what others read meets them in between.

#include <cstddef>
#include <vector>

#include "data/member_shares.hpp"
#include "pursuit/linalg/axis.hpp"

namespace pursuit {

class SharedFactors {
 public:
  /// All ranks make it together, with the shares of rows (mode 0) and columns, which outlive it, and the
  /// number of the memory for mode 0; that for mode 1 is the next.
  SharedFactors(Ranks& ranks, const std::vector<MemberShares>& shares, int number, Index columns);

  /// Rows of padded_columns(columns) numbers, the last of them zero.
  const double* whole(Index mode) const { return whole_[mode]; }
  Panel rows(Index mode, Index first, Index count) const;
  Panel own(Index mode) const;

  // All ranks call these together.

  /// What rank 0 has, to all.
  void from_leader(Index mode, const Matrix& all) const;
  /// Everybody's own rows to all, once the round has run.
  void publish(Index mode, const Panel& own, SharingRound& round) const;
  /// Everybody's own rows to rank 0; others get nothing.
  Matrix to_leader(Index mode, const Panel& own) const;

 private:
  Index members(Index mode) const { return shares_[std::size_t(mode)].cuts().back(); }
  std::size_t row_bytes() const { return std::size_t(width_) * sizeof(double); }
  void write(Index mode, Index first, const Matrix& rows) const;

  Ranks& ranks_;
  const std::vector<MemberShares>& shares_;
  Index columns_, width_;
  double* whole_[2];
};

}  // namespace pursuit
