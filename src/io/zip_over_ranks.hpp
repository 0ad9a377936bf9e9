#pragma once
// A zip archive some of whose files no rank has as a whole.

#include <string>
#include <vector>

#include "io/ranked_bytes.hpp"
#include "io/zip_writer.hpp"
#include "pursuit/base/ranks.hpp"

namespace pursuit::io {

struct RankedFile {
  std::string name;
  std::string head;  // what it begins with, on all ranks; not empty
  RankedBytes body;
};

/// What write_zip() does with the files that rank 0 has, `own`, and these, whose names are others and ascend;
/// all ranks call it together, and rank 0 writes the same bytes. Every rank packs what begins in its part.
/// Where it fails, on whatever rank and however far rank 0 has come with writing, all ranks throw.
void write_zip_over_ranks(Ranks& ranks, const ZipPieces& own, const std::vector<RankedFile>& shared,
                          const Sink& sink, int threads);

}  // namespace pursuit::io
