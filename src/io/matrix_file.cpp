#include "pursuit/io/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <type_traits>
#include <utility>

#include "base/parallel.hpp"
#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/delimited.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "io/npz_entries.hpp"
#include "io/parse_matrix.hpp"
#include "io/scipy_sparse.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/atomic_file.hpp"

namespace pursuit {

namespace io {

namespace {

template <class Stored>
constexpr bool kIsSparse = std::is_base_of_v<Eigen::SparseMatrixBase<Stored>, Stored>;

void write_npz_matrix(const AnyMatrix& matrix, const Sink& sink, int threads) {
  std::visit(
      [&](const auto& stored) {
        NpzArchive parts;
        std::map<std::string, NpyBytes> arrays;
        if constexpr (kIsSparse<std::decay_t<decltype(stored)>>) {
          parts = sparse_to_npz(stored);
          for (const auto& [array, content] : parts) arrays.emplace(array, npy_bytes(content));
        } else {
          arrays.emplace("arr_0", npy_bytes(stored));  // the name that numpy.savez gives
        }
        pack_npz(arrays, sink, threads);
      },
      matrix);
}

void write_npy_matrix(const AnyMatrix& matrix, const Sink& sink) {
  const auto write = [&](const auto& dense) {
    const NpyBytes bytes = npy_bytes(dense);
    sink(bytes.head);
    sink(bytes.body);
  };
  std::visit(
      [&](const auto& stored) {
        using Stored = std::decay_t<decltype(stored)>;
        if constexpr (kIsSparse<Stored>)
          write(Eigen::Matrix<typename Stored::Scalar, Eigen::Dynamic, Eigen::Dynamic>(stored));
        else
          write(stored);
      },
      matrix);
}

using Formatter = void (*)(const NamedMatrix&, const Sink&, int threads);

template <char kSeparator>
void write_separated(const NamedMatrix& m, const Sink& sink, int threads) {
  TextWriter writer(sink, threads);
  write_delimited(writer, m, kSeparator);
}
template <bool kPacked>
void write_market(const NamedMatrix& m, const Sink& sink, int threads) {
  TextWriter writer(sink, threads, kPacked);
  write_matrix_market(writer, m.matrix);
}

constexpr std::pair<std::string_view, Formatter> kFormats[] = {
    {".mtx", write_market<false>},
    {".mtx.gz", write_market<true>},
    {".npy", [](const NamedMatrix& m, const Sink& sink, int) { write_npy_matrix(m.matrix, sink); }},
    {".npz",
     [](const NamedMatrix& m, const Sink& sink, int threads) { write_npz_matrix(m.matrix, sink, threads); }},
    {".csv", write_separated<','>},
    {".tsv", write_separated<'\t'>},
};

Formatter formatter_for(const std::filesystem::path& path) {
  std::string file = path.filename().string();
  std::transform(file.begin(), file.end(), file.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string allowed;
  for (const auto& [extension, formatter] : kFormats) {
    if (file.ends_with(extension)) return formatter;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", extension);
  }
  throw InvalidArgument(
      fmt::format("cannot tell the format of '{}' from its extension; allowed: {}", path.string(), allowed));
}

void require_names(const char* what, std::size_t names, Index expected) {
  if (names != 0 && names != static_cast<std::size_t>(expected)) {
    throw InvalidArgument(
        fmt::format("a matrix with {} {}s cannot have {} {} names", expected, what, names, what));
  }
}

}  // namespace

}  // namespace io

NamedMatrix read_matrix(const std::filesystem::path& path, const MatrixReading& reading) {
  return io::within_memory(path, [&] {
    return io::in_memory(io::read_stored(io::ByteSource(path), reading), path.string(), reading.threads);
  });
}

MatrixData in_memory(const NamedMatrix& matrix, int threads) {
  const Index stored = std::visit(
      [](const auto& m) {
        if constexpr (io::kIsSparse<std::decay_t<decltype(m)>>)
          return Index(m.nonZeros());
        else
          return Index(m.size());
      },
      matrix.matrix);
  return {data_matrix(matrix.matrix, resolve_threads(threads)), stored, matrix.row_names,
          matrix.column_names};
}

MatrixData read_data(const std::filesystem::path& path, const MatrixReading& reading) {
  return io::within_memory(path, [&] {
    const int threads = resolve_threads(reading.threads);
    io::ByteSource source(path);
    if (io::is_npy(source.head()) && source.in_place())
      if (const DataMatrixPtr whole =
              io::whole_number_matrix(io::ByteSource(path).take_all(), path.string(), threads))
        return MatrixData{whole, whole->rows() * whole->cols(), {}, {}};
    io::StoredTable table = io::read_stored(std::move(source), reading);
    MatrixData data{nullptr, 0, std::move(table.row_names), std::move(table.column_names)};
    std::visit(
        [&](auto& stored) {
          if constexpr (requires { stored.view; }) {
            io::require_finite(stored.view, path.string(), threads);
            data.stored = stored.view.rows * stored.view.cols;
            const DataMatrixPtr matrix = data_matrix(stored.view, threads);
            data.matrix = {matrix.get(), [matrix, owner = stored.owner](const DataMatrix*) {}};
          } else {
            io::require_finite(stored, path.string(), threads);
            data.stored = stored.nonZeros();
            data.matrix = data_matrix(std::move(stored), threads);
          }
        },
        table.matrix);
    return data;
  });
}

void require_matrix_extension(const std::filesystem::path& path) {
  io::formatter_for(path);
}

void write_matrix(const std::filesystem::path& path, const NamedMatrix& matrix, int threads) {
  const io::Formatter format = io::formatter_for(path);
  io::require_names("row", matrix.row_names.size(), rows_of(matrix.matrix));
  io::require_names("column", matrix.column_names.size(), cols_of(matrix.matrix));
  AtomicFile file(path);
  format(
      matrix, [&](std::string_view bytes) { file.write(bytes); }, threads);
  file.commit();
}

}  // namespace pursuit
