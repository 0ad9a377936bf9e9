#include "io/parse_matrix.hpp"

#include <fmt/format.h>

#include <cmath>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/delimited.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "io/npz_entries.hpp"
#include "io/scipy_sparse.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit::io {

namespace {

[[noreturn]] void refuse_entry(const std::string& name, double value, Index row, Index column) {
  refuse(name, fmt::format("the entry at row {}, column {} (counted from 1) is {}, not a finite number",
                           row + 1, column + 1, value));
}

template <class Scalar>
void require_finite(const SparseMatrixOf<Scalar>& matrix, const std::string& name) {
  for (Index i = 0; i < matrix.outerSize(); ++i) {
    for (typename SparseMatrixOf<Scalar>::InnerIterator entry(matrix, i); entry; ++entry) {
      if (!std::isfinite(entry.value())) refuse_entry(name, entry.value(), entry.row(), entry.col());
    }
  }
}

template <class Scalar>
void require_finite(const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& matrix,
                    const std::string& name) {
  if (matrix.allFinite()) return;
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (!std::isfinite(matrix(i, j))) refuse_entry(name, matrix(i, j), i, j);
    }
  }
}

AnyMatrix parse_npz_matrix(std::string_view bytes, const std::string& name) {
  const NpzEntries entries = unpack_npz(bytes, name);
  if (entries.contains("format")) return sparse_from_npz(decode_npz(entries, name), name);
  if (entries.empty()) refuse(name, "the archive holds no array");
  if (entries.size() > 1) {
    std::string names;
    for (const auto& [array, content] : entries) names += (names.empty() ? "" : ", ") + shown(array);
    refuse(name,
           fmt::format("the archive holds {} arrays ({}); a matrix file holds one, or a SciPy sparse matrix",
                       entries.size(), names));
  }
  const auto& [array, content] = *entries.begin();
  return parse_npy_matrix(content, at_array(name, array));
}

}  // namespace

NamedMatrix parse_matrix(std::string_view bytes, const std::string& name, const MatrixReading& reading) {
  std::string unpacked;
  if (is_gzip(bytes)) {
    unpacked = gunzip(bytes, name);
    bytes = unpacked;
    if (is_gzip(bytes)) refuse(name, "the file was packed with gzip twice; unpack it once");
  }
  if (bytes.empty()) refuse(name, "the file is empty");

  NamedMatrix result;
  if (looks_like_matrix_market(bytes)) {
    result.matrix = parse_matrix_market(bytes, name);
  } else if (is_npy(bytes)) {
    result.matrix = parse_npy_matrix(bytes, name);
  } else if (is_zip(bytes)) {
    result.matrix = parse_npz_matrix(bytes, name);
  } else {
    result = parse_delimited(bytes, name, reading.header);
  }
  std::visit([&](const auto& matrix) { require_finite(matrix, name); }, result.matrix);
  return result;
}

}  // namespace pursuit::io
