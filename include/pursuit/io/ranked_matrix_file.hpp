#pragma once
// Matrix files whose rows are owned by ranks.

#include "pursuit/data/rows_of_ranks.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {

/// What read_data() gives, with the rows owned by all ranks of a team, which outlives it and whose ranks find
/// the file under the same path. Every rank takes its own rows from dense numbers that can be used as they
/// lie there and from SciPy's csr arrays that are not packed; of tables and of MatrixMarket coordinates as
/// plain text it parses a part of the lines and gets its rows from the others. Everything else is read by
/// rank 0 and dealt out, and so are tables in which a quoted cell spans the lines between which they would be
/// cut.
struct RankedMatrixData {
  MatrixData data;
  Index blocks = 1;    // of rows: no more ranks than these have any
  bool dealt = false;  // by rank 0
};
RankedMatrixData read_data(const std::filesystem::path& path, const MatrixReading& reading, RankTeam& team);

/// What all ranks but the first do: their part of what it asks for, until it has an exit status for them.
int follow(Ranks& ranks);
/// The same by a rank that has brought rows with it.
int follow(Ranks& ranks, OwnBlocks own);

}  // namespace pursuit
