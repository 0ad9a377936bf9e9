// Whatever the bytes, the readers of matrices return a sound matrix or throw InvalidInput; and what they
// returned comes back unchanged from a written copy.

#include "fuzz/target.hpp"
#include "io/matrix_test_support.hpp"
#include "io/parse_matrix.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::fuzz {
namespace {

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
  require_same(named.matrix, io::parse_matrix(io::format_matrix_market(named.matrix), "copy.mtx").matrix);
  const NamedMatrix table = io::parse_matrix(io::format_delimited(named, ','), "copy.csv");
  require_same(named.matrix, table.matrix);
  require(named.row_names.size() == table.row_names.size(), "the copy has other row names");
  require(named.column_names.size() == table.column_names.size(), "the copy has other column names");
}

}  // namespace

void read_matrices(std::string_view bytes) {
  NamedMatrix named;
  try {
    named = io::parse_matrix(bytes, "input");
  } catch (const InvalidInput&) {
    return;
  }
  const std::string defect = io::broken_invariant(named);
  require(defect.empty(), defect);
  require_round_trip(named);
}

}  // namespace pursuit::fuzz
