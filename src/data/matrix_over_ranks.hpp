#pragma once
// Both sides of a matrix over ranks: what rank 0 computes with, and what the others keep for it.

#include <map>

#include "data/ranked_rows.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit {

struct RankedTraits {
  double product_work, rounding;
  int threads;
};

/// The matrix of which all ranks hold their rows under this number. The team outlives it.
DataMatrixPtr matrix_over_ranks(RankTeam& team, std::int64_t number, RankedRows rows,
                                const RankedTraits& traits);

/// The matrices of a rank that follows.
class RankedMatrices {
 public:
  void keep(std::int64_t number, RankedRows rows) { matrices_.emplace(number, std::move(rows)); }
  /// Its part of a job with matrices that are there.
  void perform(const Job& job);

 private:
  std::map<std::int64_t, RankedRows> matrices_;
};

}  // namespace pursuit
