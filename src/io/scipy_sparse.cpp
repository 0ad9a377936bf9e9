#include "io/scipy_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/chunks.hpp"
#include "io/defect.hpp"
#include "io/npz_entries.hpp"
#include "io/sparse_assembly.hpp"

namespace pursuit::io {

namespace {

using Integers = std::vector<std::int64_t>;

class SparseArchiveReader {
 public:
  SparseArchiveReader(const NpzArchive& archive, const std::string& name, int threads)
      : archive_(archive), name_(name), threads_(resolve_threads(threads)) {}

  StoredMatrix read() {
    const std::string layout = text("format");
    if (layout != "csr" && layout != "csc" && layout != "coo") {
      refuse(at_array(name_, "format"),
             fmt::format("the sparse layout {} is not supported; supported: csr, csc, coo, "
                         "for example scipy.sparse.save_npz(file, matrix.tocsr())",
                         shown(layout)));
    }
    const Integers& shape = integers("shape");
    if (shape.size() != 2) {
      refuse(at_array(name_, "shape"), fmt::format("a matrix has 2 extents, not {}", shape.size()));
    }
    rows_ = shape[0];
    columns_ = shape[1];
    if (const std::size_t dimensions = array("data").shape.size(); dimensions != 1) {
      refuse(at_array(name_, "data"), fmt::format("it must have one dimension, not {}", dimensions));
    }
    return std::visit([&](const auto& data) { return read_entries(layout, data); }, array("data").values);
  }

 private:
  template <class Stored>
  StoredMatrix read_entries(const std::string& layout, const std::vector<Stored>& data) const {
    if constexpr (std::is_same_v<Stored, std::string>) {
      refuse(at_array(name_, "data"), "it holds text, not numbers");
    } else {
      using Scalar = std::conditional_t<std::is_same_v<Stored, float>, float, double>;
      require_storable(name_, rows_, columns_, static_cast<std::int64_t>(data.size()));
      Entries<Scalar> entries;
      entries.value.resize(data.size());
      const Chunks chunks = chunks_of(data.size());
      parallel_for(chunks.count(), threads_, [&](Index chunk) {
        std::copy_n(data.begin() + chunks.first(chunk), chunks.length(chunk),
                    entries.value.begin() + chunks.first(chunk));
      });
      if (layout == "coo") {
        entries.row = positions("row", rows_, data.size());
        entries.column = positions("col", columns_, data.size());
      } else if (layout == "csr") {
        entries.column = positions("indices", columns_, data.size());
        entries.row = expand_starts(rows_, data.size());
      } else {
        entries.row = positions("indices", rows_, data.size());
        entries.column = expand_starts(columns_, data.size());
      }
      // SciPy allows room for more entries than the last start says are in use.
      entries.row.resize(std::min(entries.row.size(), entries.column.size()));
      entries.column.resize(entries.row.size());
      entries.value.resize(entries.row.size());
      SparseMatrixOf<Scalar> matrix = assemble(rows_, columns_, entries, threads_);
      if (find_duplicate(matrix, threads_)) sum_duplicates(matrix);
      return holding<StoredMatrix>(matrix);
    }
  }

  const NpyArray& array(const char* field) const {
    const auto found = archive_.find(field);
    if (found == archive_.end())
      refuse(name_, fmt::format("a sparse matrix needs the array '{}', which is missing", field));
    return found->second;
  }

  std::string text(const char* field) const {
    const auto* values = std::get_if<std::vector<std::string>>(&array(field).values);
    if (values == nullptr || values->size() != 1) refuse(at_array(name_, field), "it must hold one text");
    return values->front();
  }

  const Integers& integers(const char* field) const {
    const auto* values = std::get_if<Integers>(&array(field).values);
    if (values == nullptr || array(field).shape.size() != 1) {
      refuse(at_array(name_, field), "it must be a one-dimensional array of integers");
    }
    return *values;
  }

  /// The rows or columns of the entries: `count` of them, each from 0 to below `extent`.
  PlainVector<int> positions(const char* field, std::int64_t extent, std::size_t count) const {
    const Integers& values = integers(field);
    if (values.size() != count) {
      refuse(at_array(name_, field),
             fmt::format("it has {} elements, but 'data' has {}", values.size(), count));
    }
    PlainVector<int> checked(count);
    const Chunks chunks = chunks_of(count);
    std::vector<Index> bad(static_cast<std::size_t>(chunks.count()),
                           static_cast<Index>(count));  // the first of each
    parallel_for(chunks.count(), threads_, [&](Index chunk) {
      for (Index k = chunks.first(chunk); k < chunks.first(chunk + 1); ++k) {
        const std::int64_t value = values[static_cast<std::size_t>(k)];
        if (value < 0 || value >= extent) {
          bad[static_cast<std::size_t>(chunk)] = k;
          return;
        }
        checked[static_cast<std::size_t>(k)] = static_cast<int>(value);
      }
    });
    if (const auto first = static_cast<std::size_t>(*std::min_element(bad.begin(), bad.end())); first < count)
      refuse(at_array(name_, field),
             fmt::format("element {} is {}, which is not from 0 to {}", first, values[first], extent - 1));
    return checked;
  }

  /// From where each row (or column) starts to the row of each entry.
  PlainVector<int> expand_starts(std::int64_t extent, std::size_t count) const {
    const std::string where = at_array(name_, "indptr");
    const Integers& starts = integers("indptr");
    if (starts.size() != static_cast<std::size_t>(extent) + 1) {
      refuse(where, fmt::format("it has {} elements instead of {}", starts.size(), extent + 1));
    }
    if (starts.front() != 0) refuse(where, fmt::format("it starts with {}, not with 0", starts.front()));
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      if (starts[i + 1] < starts[i]) {
        refuse(where,
               fmt::format("element {} is {}, less than the {} before it", i + 1, starts[i + 1], starts[i]));
      }
      if (starts[i + 1] > static_cast<std::int64_t>(count)) {
        refuse(where,
               fmt::format("element {} is {}, but 'data' has only {} elements", i + 1, starts[i + 1], count));
      }
    }
    PlainVector<int> lines(static_cast<std::size_t>(starts.back()));
    const Chunks chunks(extent);
    parallel_for(chunks.count(), threads_, [&](Index chunk) {
      for (Index i = chunks.first(chunk); i < chunks.first(chunk + 1); ++i)
        std::fill(lines.begin() + starts[static_cast<std::size_t>(i)],
                  lines.begin() + starts[static_cast<std::size_t>(i) + 1], static_cast<int>(i));
    });
    return lines;
  }

  static Chunks chunks_of(std::size_t size) { return Chunks(static_cast<Index>(size), Index(1) << 12); }

  const NpzArchive& archive_;
  const std::string& name_;
  int threads_;
  std::int64_t rows_ = 0, columns_ = 0;
};

template <class Scalar>
NpzArchive to_npz(const SparseMatrixOf<Scalar>& matrix) {
  const SparseMatrixOf<Scalar>* compressed = &matrix;
  SparseMatrixOf<Scalar> copy;
  if (!matrix.isCompressed()) {
    copy = matrix;
    copy.makeCompressed();
    compressed = &copy;
  }
  const auto count = compressed->nonZeros();
  const int* columns = compressed->innerIndexPtr();
  const int* starts = compressed->outerIndexPtr();
  const Scalar* values = compressed->valuePtr();
  NpzArchive archive;
  archive["format"] = {{}, std::vector<std::string>{"csr"}};
  archive["shape"] = {{2}, Integers{matrix.rows(), matrix.cols()}};
  archive["data"] = {{count}, std::vector<Scalar>(values, values + count)};
  archive["indices"] = {{count}, Integers(columns, columns + count)};
  archive["indptr"] = {{matrix.rows() + 1}, Integers(starts, starts + matrix.rows() + 1)};
  return archive;
}

}  // namespace

StoredMatrix sparse_from_npz(const NpzArchive& archive, const std::string& name, int threads) {
  return SparseArchiveReader(archive, name, threads).read();
}

NpzArchive sparse_to_npz(const SparseMatrixOf<double>& matrix) {
  return to_npz(matrix);
}
NpzArchive sparse_to_npz(const SparseMatrixOf<float>& matrix) {
  return to_npz(matrix);
}

}  // namespace pursuit::io
