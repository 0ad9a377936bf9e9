// Feeds arbitrary bytes to the matrix readers, as libFuzzer invents them. Whatever the bytes, a reader must
// return a sound matrix or throw InvalidInput; and what it returned must come back unchanged from a written
// copy.
//
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I include -I src -isystem <eigen>
//     tests/fuzz/fuzz_read_matrix.cpp $(ls src/io/*.cpp | grep -vE "_test|_bench") build/release/libpursuit.a
//     -lopenblas -lfmt -lz -o fuzz_read_matrix
//   mkdir corpus
//   ./fuzz_read_matrix -dict=tests/fuzz/read_matrix.dict -max_total_time=180 corpus tests/fuzz/seeds

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/delimited.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_test_support.hpp"
#include "io/parse_matrix.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {
namespace {

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

Matrix in_full(const AnyMatrix& matrix) {
  return std::visit([](const auto& stored) { return Matrix(stored.template cast<double>()); }, matrix);
}

void require_same(const AnyMatrix& original, const AnyMatrix& copy) {
  const Matrix before = in_full(original), after = in_full(copy);
  require(before.rows() == after.rows() && before.cols() == after.cols(), "the copy has another size");
  // The shortest text of a float is not that float when it is read as a double.
  const bool single = original.index() % 2 == 1;
  require(single ? before.cast<float>() == after.cast<float>() : before == after,
          "the copy has other values");
}

void require_round_trip(const NamedMatrix& named) {
  constexpr Index kMostCells = 10'000;  // sparse matrices are compared in full
  if (rows_of(named.matrix) > kMostCells / cols_of(named.matrix)) return;
  require_same(named.matrix, parse_matrix(format_matrix_market(named.matrix), "copy.mtx").matrix);
  const NamedMatrix table = parse_matrix(format_delimited(named, ','), "copy.csv");
  require_same(named.matrix, table.matrix);
  require(named.row_names.size() == table.row_names.size(), "the copy has other row names");
  require(named.column_names.size() == table.column_names.size(), "the copy has other column names");
}

void read_anything(std::string_view bytes) {
  NamedMatrix named;
  try {
    named = parse_matrix(bytes, "input");
  } catch (const InvalidInput&) {
    return;
  }
  const std::string defect = broken_invariant(named);
  require(defect.empty(), defect);
  require_round_trip(named);
}

}  // namespace
}  // namespace pursuit::io

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pursuit::io::read_anything({reinterpret_cast<const char*>(data), size});
  return 0;
}
