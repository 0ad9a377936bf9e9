#pragma once
// Both sides of a matrix over ranks: what rank 0 computes with, and what the others keep for it.

#include <map>
#include <optional>

#include "data/ranked_rows.hpp"
#include "pursuit/data/rank_team.hpp"
#include "pursuit/data/rows_of_ranks.hpp"

namespace pursuit {

struct RankedTraits {
  double product_work, rounding;
  int threads;
};

/// The matrix of which all ranks hold their rows under this number. The team outlives it.
DataMatrixPtr matrix_over_ranks(RankTeam& team, std::int64_t number, RankedRows rows,
                                const RankedTraits& traits);

/// What such a matrix is, for those who share more than products; empty of any other.
struct OverRanks {
  RankTeam* team;
  std::int64_t number;
  const RankedRows* rows;
};
std::optional<OverRanks> over_ranks(const DataMatrix& matrix);

/// The number of the matrix whose rows ranks have brought with them: nothing else has it.
constexpr std::int64_t kBroughtMatrix = 0;
RankedRows ranked_rows(Ranks& ranks, OwnBlocks own);

/// The matrices of a rank that follows.
class RankedMatrices {
 public:
  void keep(std::int64_t number, RankedRows rows) { matrices_.emplace(number, std::move(rows)); }
  /// Its part of a job with matrices that are there.
  void perform(const Job& job);
  const RankedRows& rows_of(std::int64_t number) const { return matrices_.at(number); }

 private:
  std::map<std::int64_t, RankedRows> matrices_;
};

}  // namespace pursuit
