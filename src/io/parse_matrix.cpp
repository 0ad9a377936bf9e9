#include "io/parse_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/chunks.hpp"
#include "io/defect.hpp"
#include "io/delimited.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "io/npz_entries.hpp"
#include "io/scipy_sparse.hpp"
#include "io/text_lines.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit::io {

namespace {

[[noreturn]] void refuse_entry(const std::string& name, double value, Index row, Index column) {
  refuse(name, fmt::format("the entry at row {}, column {} (counted from 1) is {}, not a finite number{}",
                           row + 1, column + 1, value,
                           std::isnan(value) ? "; `pursuit complete` fills in missing entries" : ""));
}

}  // namespace

template <class Scalar>
void require_finite(const SparseMatrixOf<Scalar>& matrix, const std::string& name, int threads,
                    Index first_row) {
  const Scalar* values = matrix.valuePtr();
  const Chunks chunks(matrix.nonZeros(), Index(1) << 14);
  std::vector<Index> bad(static_cast<std::size_t>(chunks.count()));  // the first of each that is not finite
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    const Scalar *first = values + chunks.first(chunk), *last = values + chunks.first(chunk + 1);
    const Scalar* found = std::find_if(first, last, [](Scalar x) { return !std::isfinite(x); });
    bad[static_cast<std::size_t>(chunk)] = found == last ? matrix.nonZeros() : found - values;
  });
  const Index entry = *std::min_element(bad.begin(), bad.end());
  if (entry == matrix.nonZeros()) return;
  const int* start = matrix.outerIndexPtr();
  const Index row = std::upper_bound(start, start + matrix.rows() + 1, int(entry)) - start - 1;
  refuse_entry(name, values[entry], first_row + row, matrix.innerIndexPtr()[entry]);
}

template <class Scalar>
void require_finite(const DenseView<Scalar>& view, const std::string& name, int threads, Index first_row) {
  using Line = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const Index lines = view.row_major ? view.rows : view.cols, length = view.row_major ? view.cols : view.rows;
  constexpr Index kPiece = 1 << 16;
  const Index at_once = std::max<Index>(1, kPiece / length), pieces = (lines + at_once - 1) / at_once;
  std::vector<Index> bad(static_cast<std::size_t>(pieces),
                         lines);  // the first line of each that is not finite
  parallel_for(pieces, threads, [&](Index p) {
    for (Index i = p * at_once; i < std::min(lines, (p + 1) * at_once); ++i)
      if (!Eigen::Map<const Line>(view.data + i * view.stride, length).allFinite()) {
        bad[static_cast<std::size_t>(p)] = i;
        return;
      }
  });
  const Index i = *std::min_element(bad.begin(), bad.end());
  if (i == lines) return;
  const Scalar* line = view.data + i * view.stride;
  const Index j = std::find_if(line, line + length, [](Scalar x) { return !std::isfinite(x); }) - line;
  refuse_entry(name, line[j], first_row + (view.row_major ? i : j), view.row_major ? j : i);
}

template void require_finite(const DenseView<double>&, const std::string&, int, Index);
template void require_finite(const DenseView<float>&, const std::string&, int, Index);
template void require_finite(const SparseMatrixOf<double>&, const std::string&, int, Index);
template void require_finite(const SparseMatrixOf<float>&, const std::string&, int, Index);

namespace {

/// From rows to Eigen's columns. Copying element by element would touch a new cache line for each; a panel of
/// rows at a time fills whole lines.
template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> by_columns(const DenseView<Scalar>& view, int threads) {
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> matrix(view.rows, view.cols);
  if (!view.row_major) {
    parallel_for(view.cols, threads,
                 [&](Index j) { std::copy_n(view.data + j * view.stride, view.rows, matrix.col(j).data()); });
    return matrix;
  }
  constexpr Index kPanelRows = 16;
  parallel_for((view.rows + kPanelRows - 1) / kPanelRows, threads, [&](Index p) {
    const Index first = p * kPanelRows, height = std::min(kPanelRows, view.rows - first);
    for (Index j = 0; j < view.cols; ++j) {
      Scalar* target = matrix.data() + j * view.rows + first;
      for (Index i = 0; i < height; ++i) target[i] = view.data[(first + i) * view.stride + j];
    }
  });
  return matrix;
}

StoredMatrix parse_npz_matrix(const Bytes& bytes, const std::string& name, int threads) {
  const NpzEntries entries = unpack_npz(bytes, name, threads);
  if (entries.contains("format")) return sparse_from_npz(decode_npz(entries, name, threads), name, threads);
  if (entries.empty()) refuse(name, "the archive holds no array");
  if (entries.size() > 1) {
    std::string names;
    for (const auto& [array, content] : entries) names += (names.empty() ? "" : ", ") + shown(array);
    refuse(name,
           fmt::format("the archive holds {} arrays ({}); a matrix file holds one, or a SciPy sparse matrix",
                       entries.size(), names));
  }
  const auto& [array, content] = *entries.begin();
  return parse_npy_matrix(content, at_array(name, array), threads);
}

}  // namespace

StoredTable read_stored(ByteSource source, const MatrixReading& reading) {
  const std::string_view head = source.head();
  if (is_npy(head)) return {parse_npy_matrix(source.take_all(), source.name(), reading.threads), {}, {}};
  if (is_zip(head)) return {parse_npz_matrix(source.take_all(), source.name(), reading.threads), {}, {}};
  if (looks_like_matrix_market(head)) {
    TextLines lines(source);
    return {read_matrix_market(lines, reading.threads), {}, {}};
  }
  require_no_zero_byte(head, source.name());  // what is no text may have no end
  const Bytes text =
      source.in_place() ? Bytes() : source.take_all();  // quoted cells may span any number of lines
  ByteSource memory(text.view.empty() ? std::string_view(" ") : text.view, source.name());
  TextLines lines(text.view.empty() ? source : memory);
  return read_delimited(lines, reading);
}

NamedMatrix in_memory(StoredTable table, const std::string& name, int threads) {
  threads = resolve_threads(threads);
  return {std::visit(
              [&](auto& stored) -> AnyMatrix {
                if constexpr (requires { stored.view; }) {
                  require_finite(stored.view, name, threads);
                  return by_columns(stored.view, threads);
                } else {
                  require_finite(stored, name, threads);
                  return holding<AnyMatrix>(stored);
                }
              },
              table.matrix),
          std::move(table.row_names), std::move(table.column_names)};
}

NamedMatrix parse_matrix(std::string_view bytes, const std::string& name, const MatrixReading& reading) {
  return in_memory(read_stored(ByteSource(bytes, name), reading), name, reading.threads);
}

}  // namespace pursuit::io
