#pragma once
// A matrix whose rows lie with several ranks already, such as the parts of an array that they have made.

#include <span>
#include <vector>

#include "pursuit/data/data_matrix.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit {

/// Where rows are cut into blocks, and after the last one: a power of two of them, which belong to ranks in
/// turn. Sizes alone decide, and of sparse rows the entries before each and in all of them: the same bits for
/// any number of ranks.
std::vector<Index> row_cuts(Index rows);
std::vector<Index> row_cuts(std::span<const int> entries_before);
/// The blocks of a rank are those from the first of the pair to before the second.
std::pair<Index, Index> blocks_of_rank(const std::vector<Index>& cuts, int rank, int ranks);

/// What a rank has.
struct OwnBlocks {
  std::vector<Index> cuts;  // of all rows
  Index cols = 0;
  std::vector<DataMatrixPtr> blocks;  // null where a block has no rows
};

/// On rank 0: the matrix of which the others have their rows (follow() of ranked_matrix_file.hpp). `work` and
/// `rounding` are those of all of it. There is one of a team, which outlives it.
DataMatrixPtr matrix_of_blocks(RankTeam& team, OwnBlocks own, double work, double rounding, int threads);

}  // namespace pursuit
