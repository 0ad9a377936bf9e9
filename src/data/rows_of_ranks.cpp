#include "pursuit/data/rows_of_ranks.hpp"

#include <utility>

#include "data/matrix_over_ranks.hpp"

namespace pursuit {

std::vector<Index> row_cuts(Index rows) {
  return RowCuts::of_dense(rows).first_rows();
}

std::vector<Index> row_cuts(std::span<const int> entries_before) {
  return RowCuts::by_entries(entries_before).first_rows();
}

std::pair<Index, Index> blocks_of_rank(const std::vector<Index>& cuts, int rank, int ranks) {
  const RowCuts all(cuts);
  return {all.first_block(rank, ranks), all.first_block(rank + 1, ranks)};
}

RankedRows ranked_rows(Ranks& ranks, OwnBlocks own) {
  return {ranks, RowCuts(std::move(own.cuts)), own.cols, std::move(own.blocks)};
}

DataMatrixPtr matrix_of_blocks(RankTeam& team, OwnBlocks own, double work, double rounding, int threads) {
  return matrix_over_ranks(team, kBroughtMatrix, ranked_rows(team.ranks(), std::move(own)),
                           {work, rounding, threads});
}

}  // namespace pursuit
