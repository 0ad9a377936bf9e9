// Feeds arbitrary arrays to the reader of SciPy's sparse matrices. A zip archive's checksums keep libFuzzer
// from ever changing an array inside it, so here the arrays simply follow each other, each starting where
// .npy files do. Built and run like fuzz_read_matrix.cpp, with seeds_scipy_sparse for seeds.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/matrix_test_support.hpp"
#include "io/npz_entries.hpp"
#include "io/scipy_sparse.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {
namespace {

NpzEntries split(std::string_view bytes) {
  constexpr std::array kNames = {"format", "shape", "data", "indices", "indptr", "row", "col"};
  constexpr std::string_view kMark("\x93NUMPY", 6);
  NpzEntries entries;
  for (const char* name : kNames) {
    if (bytes.empty()) break;
    const std::string_view array = bytes.substr(0, bytes.find(kMark, 1));
    entries.emplace(name, Bytes{array, nullptr});
    bytes.remove_prefix(array.size());
  }
  return entries;
}

void read_anything(std::string_view bytes) {
  NamedMatrix named;
  try {
    const StoredMatrix stored = sparse_from_npz(decode_npz(split(bytes), "input"), "input");
    if (const auto* wide = std::get_if<SparseMatrix>(&stored))
      named.matrix = *wide;
    else
      named.matrix = std::get<SparseMatrixOf<float>>(stored);
  } catch (const InvalidInput&) {
    return;
  }
  // Sums of entries may overflow, and arrays may hold NaN: parse_matrix() looks for those afterwards.
  const std::string defect = broken_invariant(named);
  if (defect.empty() || defect == "an entry is not finite") return;
  std::fprintf(stderr, "broken: %s\n", defect.c_str());
  std::abort();
}

}  // namespace
}  // namespace pursuit::io

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pursuit::io::read_anything({reinterpret_cast<const char*>(data), size});
  return 0;
}
