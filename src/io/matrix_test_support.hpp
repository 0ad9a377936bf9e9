#pragma once
// What every matrix that a reader returns must satisfy, whatever bytes it was given: for tests and fuzzing.

#include <cmath>
#include <string>

#include "io/delimited.hpp"
#include "io/matrix_market.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::io {

/// What is written, as text.
template <class Write>
std::string written_text(const Write& write) {
  std::string text;
  TextWriter writer([&](std::string_view piece) { text += piece; });
  write(writer);
  return text;
}
inline std::string format_delimited(const NamedMatrix& table, char separator) {
  return written_text([&](TextWriter& writer) { write_delimited(writer, table, separator); });
}
inline std::string format_matrix_market(const AnyMatrix& matrix) {
  return written_text([&](TextWriter& writer) { write_matrix_market(writer, matrix); });
}

template <class Scalar>
std::string broken_invariant_of(const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& matrix) {
  return matrix.allFinite() ? "" : "an entry is not finite";
}

template <class Scalar>
std::string broken_invariant_of(const SparseMatrixOf<Scalar>& matrix) {
  if (!matrix.isCompressed()) return "not compressed";
  for (Index i = 0; i < matrix.rows(); ++i) {
    Index previous = -1;
    for (typename SparseMatrixOf<Scalar>::InnerIterator entry(matrix, i); entry; ++entry) {
      if (entry.col() <= previous || entry.col() >= matrix.cols()) return "columns unsorted or out of range";
      if (!std::isfinite(entry.value())) return "an entry is not finite";
      previous = entry.col();
    }
  }
  return "";
}

/// What is wrong with the matrix; empty if nothing is.
inline std::string broken_invariant(const NamedMatrix& named) {
  const Index rows = rows_of(named.matrix), columns = cols_of(named.matrix);
  if (rows < 1 || columns < 1) return "empty";
  if (!named.row_names.empty() && static_cast<Index>(named.row_names.size()) != rows) return "row names";
  if (!named.column_names.empty() && static_cast<Index>(named.column_names.size()) != columns) {
    return "column names";
  }
  return std::visit([](const auto& matrix) { return broken_invariant_of(matrix); }, named.matrix);
}

}  // namespace pursuit::io
