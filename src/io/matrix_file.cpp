#include "pursuit/io/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "io/delimited.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
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

std::string format_npz(const AnyMatrix& matrix) {
  return std::visit(
      [](const auto& stored) {
        NpzArchive parts;
        std::map<std::string, NpyBytes> arrays;
        if constexpr (kIsSparse<std::decay_t<decltype(stored)>>) {
          parts = sparse_to_npz(stored);
          for (const auto& [array, content] : parts) arrays.emplace(array, npy_bytes(content));
        } else {
          arrays.emplace("arr_0", npy_bytes(stored));  // the name that numpy.savez gives
        }
        return pack_npz(arrays);
      },
      matrix);
}

std::string format_npy_matrix(const AnyMatrix& matrix) {
  return std::visit(
      [](const auto& stored) {
        using Stored = std::decay_t<decltype(stored)>;
        if constexpr (kIsSparse<Stored>) {
          return format_npy(Eigen::Matrix<typename Stored::Scalar, Eigen::Dynamic, Eigen::Dynamic>(stored));
        } else {
          return format_npy(stored);
        }
      },
      matrix);
}

using Formatter = std::string (*)(const NamedMatrix&);

constexpr std::pair<std::string_view, Formatter> kFormats[] = {
    {".mtx", [](const NamedMatrix& m) { return format_matrix_market(m.matrix); }},
    {".mtx.gz", [](const NamedMatrix& m) { return gzip(format_matrix_market(m.matrix)); }},
    {".npy", [](const NamedMatrix& m) { return format_npy_matrix(m.matrix); }},
    {".npz", [](const NamedMatrix& m) { return format_npz(m.matrix); }},
    {".csv", [](const NamedMatrix& m) { return format_delimited(m, ','); }},
    {".tsv", [](const NamedMatrix& m) { return format_delimited(m, '\t'); }},
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
  const std::string name = path.string();
  try {
    return io::parse_matrix(io::read_file(path), name, reading);
  } catch (const std::bad_alloc&) {
    io::refuse(name, "reading it needs more memory than there is");
  } catch (const std::length_error&) {
    io::refuse(name, "reading it needs more memory than there is");
  }
}

void require_matrix_extension(const std::filesystem::path& path) {
  io::formatter_for(path);
}

void write_matrix(const std::filesystem::path& path, const NamedMatrix& matrix) {
  const io::Formatter format = io::formatter_for(path);
  io::require_names("row", matrix.row_names.size(), rows_of(matrix.matrix));
  io::require_names("column", matrix.column_names.size(), cols_of(matrix.matrix));
  write_file_atomically(path, format(matrix));
}

}  // namespace pursuit
