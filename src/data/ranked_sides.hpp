#pragma once
// A matrix over ranks, seen from both sides: each rank owns rows and columns, and finds for each of them what
// the factor of the other side makes of its entries. Sparse matrices stand here twice, by rows and by
// columns, so that every number has one owner who adds its terms in the order of the entries; of others sums
// over blocks of rows go along their tree, a part of the columns at each rank.

#include <memory>

#include "data/member_shares.hpp"
#include "data/ranked_rows.hpp"
#include "data/shared_factors.hpp"
#include "pursuit/linalg/axis.hpp"

namespace pursuit {

class RankedSides {
 public:
  /// All ranks make it together. The rows have to outlive it.
  explicit RankedSides(const RankedRows& rows);
  ~RankedSides();

  /// Of rows (mode 0) or columns.
  const MemberShares& shares(Index mode) const { return shares_[std::size_t(mode)]; }
  Index first(Index mode) const { return shares(mode).first(); }
  Index own(Index mode) const { return shares(mode).last() - first(mode); }

  /// Whether contract() looks at the whole factor of the other side, or at this rank's rows of it.
  bool looks_at_all(Index mode) const { return mode == 0 || columns_; }
  /// For the members of a mode that are owned here the sum over their entries of the rows of a factor:
  /// `whole` is that of the other mode, by rows of padded_columns(), `own` what of it is owned here. All
  /// ranks call it together.
  void contract(Index mode, const double* whole, const Panel& own, Panel& out) const;

  // Products of rank 0, who has the factor and gets the result; others get nothing. All ranks call them
  // together, with the number of columns.

  /// A V (mode 0) or A^T U.
  Matrix multiply(Index mode, const Matrix& factor, Index columns) const;
  Matrix multiply_gram(const Matrix& V, Index columns) const;
  /// Factors in memory that serves products.
  SharedFactors factors(Index columns) const;

 private:
  class OwnColumns;
  template <class Scalar>
  class OwnColumnsOf;

  template <class Scalar>
  bool bring_columns();
  void add_up_parts(const Panel& own_rows, Panel& out) const;

  const RankedRows& rows_;
  Ranks& ranks_;
  std::vector<MemberShares> shares_;
  std::unique_ptr<const OwnColumns> columns_;  // of sparse matrices
};

}  // namespace pursuit
