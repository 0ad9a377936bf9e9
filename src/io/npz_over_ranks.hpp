#pragma once
// An .npz archive some of whose arrays are longer than what one rank could hold.

#include <filesystem>
#include <string>
#include <vector>

#include "io/npy.hpp"
#include "io/npz_archive.hpp"
#include "pursuit/base/ranks.hpp"

namespace pursuit {

/// A list of numbers of which every rank has a part, one after the other in the order of ranks: the numbers
/// themselves stay where they are. Parts may be empty.
struct RankedArray {
  std::string name;
  io::NpyNumbers own;
};

/// What write_npz() does with the archive of rank 0, whose path it is, and these arrays besides; all ranks
/// call it together, with the same names and types in the same order. The same bytes as if rank 0 had
/// everything, which it never does: each rank packs its part and rank 0 writes. Besides its part packed, one
/// array at a time, a rank needs some MiB. Where it fails, on any rank, all ranks throw and nothing is left.
void write_npz_over_ranks(Ranks& ranks, const std::filesystem::path& path, const NpzArchive& archive,
                          std::vector<RankedArray> shared, int threads = 0);

}  // namespace pursuit
