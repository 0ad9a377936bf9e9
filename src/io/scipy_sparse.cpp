#include "io/scipy_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/chunks.hpp"
#include "io/defect.hpp"
#include "io/npy.hpp"

namespace pursuit::io {

namespace {

using Integers = std::vector<std::int64_t>;

Chunks chunks_of_entries(std::size_t size) {
  return Chunks(static_cast<Index>(size), Index(1) << 12);
}

/// Positions, each from 0 to below `extent`; the array has so many before them.
PlainVector<int> checked_positions(const Integers& values, std::int64_t extent, std::size_t before,
                                   const std::string& where, int threads) {
  const std::size_t count = values.size();
  PlainVector<int> checked(count);
  const Chunks chunks = chunks_of_entries(count);
  std::vector<Index> bad(static_cast<std::size_t>(chunks.count()),
                         static_cast<Index>(count));  // the first of each
  parallel_for(chunks.count(), threads, [&](Index chunk) {
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
    refuse(where, fmt::format("element {} is {}, which is not from 0 to {}", before + first, values[first],
                              extent - 1));
  return checked;
}

/// Where rows (or columns) start among `count` entries.
void require_starts(const Integers& starts, std::size_t count, const std::string& where) {
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
}

/// From where each row (or column) starts to the row of each entry, both counted from the first.
PlainVector<int> expanded(const Integers& starts, int threads) {
  const auto before = static_cast<std::size_t>(starts.front());
  PlainVector<int> lines(static_cast<std::size_t>(starts.back()) - before);
  const Chunks chunks(static_cast<Index>(starts.size()) - 1);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    for (Index i = chunks.first(chunk); i < chunks.first(chunk + 1); ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::fill(lines.data() + (static_cast<std::size_t>(starts[at]) - before),
                lines.data() + (static_cast<std::size_t>(starts[at + 1]) - before), static_cast<int>(i));
    }
  });
  return lines;
}

template <class Scalar, class Stored>
PlainVector<Scalar> as_values(const std::vector<Stored>& data, int threads) {
  PlainVector<Scalar> values(data.size());
  const Chunks chunks = chunks_of_entries(data.size());
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    std::copy_n(data.begin() + chunks.first(chunk), chunks.length(chunk),
                values.begin() + chunks.first(chunk));
  });
  return values;
}

/// Entries of the same position are summed.
template <class Scalar>
SparseMatrixOf<Scalar> assemble_summed(Index rows, Index columns, const Entries<Scalar>& entries,
                                       int threads) {
  SparseMatrixOf<Scalar> matrix = assemble(rows, columns, entries, threads);
  if (find_duplicate(matrix, threads)) sum_duplicates(matrix);
  return matrix;
}

/// What the arrays of an archive are. Their shapes are looked at for how many elements they have, so that
/// those of entries need not hold them.
class SparseArchiveHead {
 public:
  std::string layout;
  std::int64_t rows = 0, columns = 0;

  SparseArchiveHead(const NpzArchive& archive, const std::string& name) : archive_(archive), name_(name) {
    layout = text("format");
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
    rows = shape[0];
    columns = shape[1];
    if (const std::size_t dimensions = array("data").shape.size(); dimensions != 1) {
      refuse(at_array(name_, "data"), fmt::format("it must have one dimension, not {}", dimensions));
    }
  }

  std::size_t entries() const { return static_cast<std::size_t>(array("data").shape.front()); }
  bool single() const { return std::holds_alternative<std::vector<float>>(array("data").values); }

  void require_numbers(const SparseRoom& room) const {
    if (std::holds_alternative<std::vector<std::string>>(array("data").values))
      refuse(at_array(name_, "data"), "it holds text, not numbers");
    require_storable(name_, rows, columns, static_cast<std::int64_t>(entries()), room);
  }
  const Integers& positions(const char* field) const {
    const Integers& values = integers(field);
    if (const auto size = static_cast<std::size_t>(array(field).shape.front()); size != entries()) {
      refuse(at_array(name_, field), fmt::format("it has {} elements, but 'data' has {}", size, entries()));
    }
    return values;
  }
  const Integers& starts(std::int64_t extent) const {
    const Integers& values = integers("indptr");
    if (const Index size = array("indptr").shape.front(); size != extent + 1) {
      refuse(at_array(name_, "indptr"), fmt::format("it has {} elements instead of {}", size, extent + 1));
    }
    return values;
  }
  const NpyArray& array(const char* field) const {
    const auto found = archive_.find(field);
    if (found == archive_.end())
      refuse(name_, fmt::format("a sparse matrix needs the array '{}', which is missing", field));
    return found->second;
  }

 private:
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

  const NpzArchive& archive_;
  const std::string& name_;
};

class SparseArchiveReader {
 public:
  SparseArchiveReader(const NpzArchive& archive, const std::string& name, int threads)
      : head_(archive, name), name_(name), threads_(resolve_threads(threads)) {}

  StoredMatrix read() const {
    head_.require_numbers({});
    return std::visit(
        [&](const auto& data) -> StoredMatrix {
          using Stored = typename std::decay_t<decltype(data)>::value_type;
          if constexpr (std::is_same_v<Stored, std::string>)
            return {};  // refused
          else
            return read_entries<std::conditional_t<std::is_same_v<Stored, float>, float, double>>(data);
        },
        head_.array("data").values);
  }

 private:
  template <class Scalar, class Stored>
  StoredMatrix read_entries(const std::vector<Stored>& data) const {
    Entries<Scalar> entries;
    entries.value = as_values<Scalar>(data, threads_);
    if (head_.layout == "coo") {
      entries.row = positions("row", head_.rows);
      entries.column = positions("col", head_.columns);
    } else if (head_.layout == "csr") {
      entries.column = positions("indices", head_.columns);
      entries.row = lines(head_.rows);
    } else {
      entries.row = positions("indices", head_.rows);
      entries.column = lines(head_.columns);
    }
    // SciPy allows room for more entries than the last start says are in use.
    entries.row.resize(std::min(entries.row.size(), entries.column.size()));
    entries.column.resize(entries.row.size());
    entries.value.resize(entries.row.size());
    SparseMatrixOf<Scalar> matrix = assemble_summed(head_.rows, head_.columns, entries, threads_);
    return holding<StoredMatrix>(matrix);
  }

  /// The rows or columns of the entries.
  PlainVector<int> positions(const char* field, std::int64_t extent) const {
    return checked_positions(head_.positions(field), extent, 0, at_array(name_, field), threads_);
  }
  PlainVector<int> lines(std::int64_t extent) const {
    const Integers& starts = head_.starts(extent);
    require_starts(starts, head_.entries(), at_array(name_, "indptr"));
    return expanded(starts, threads_);
  }

  SparseArchiveHead head_;
  const std::string& name_;
  int threads_;
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

CsrRows::CsrRows(NpzEntries arrays, std::string name, const SparseRoom& room, int threads)
    : arrays_(std::move(arrays)), name_(std::move(name)), threads_(resolve_threads(threads)) {
  NpzArchive archive;
  for (const auto& [array, bytes] : arrays_) {
    if (array == "format" || array == "shape")
      archive.emplace(array, parse_npy(bytes.view, at_array(name_, array)));
    else
      archive.emplace(array, part(array, 0, 0));
  }
  const SparseArchiveHead head(archive, name_);
  head.require_numbers(room);
  head.positions("indices");
  head.starts(head.rows);
  rows_ = head.rows;
  cols_ = head.columns;
  entries_ = static_cast<Index>(head.entries());
  single_ = head.single();
}

NpyArray CsrRows::part(const std::string& array, Index first, Index count) const {
  return parse_npy_part(arrays_.at(array).view, first, count, at_array(name_, array), threads_);
}

std::vector<std::int64_t> CsrRows::starts(Index first, Index last) const {
  return std::get<Integers>(part("indptr", first, last - first + 1).values);
}

std::vector<std::int64_t> CsrRows::all_starts() const {
  std::vector<std::int64_t> all = starts(0, rows_);
  require_starts(all, static_cast<std::size_t>(entries_), at_array(name_, "indptr"));
  return all;
}

PlainVector<int> CsrRows::columns(Index first, Index last) const {
  return checked_positions(std::get<Integers>(part("indices", first, last - first).values), cols_,
                           static_cast<std::size_t>(first), at_array(name_, "indices"), threads_);
}

void CsrRows::require_unused_columns(Index first) const {
  constexpr Index kAtOnce = Index(1) << 22;
  for (; first < entries_; first += kAtOnce) columns(first, std::min(entries_, first + kAtOnce));
}

template <class Scalar>
SparseMatrixOf<Scalar> CsrRows::read(Index first, Index last) const {
  const Integers own = starts(first, last);
  Entries<Scalar> entries;
  entries.column = columns(own.front(), own.back());
  entries.row = expanded(own, threads_);
  std::visit(
      [&](const auto& data) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(data)>, std::vector<std::string>>)
          entries.value = as_values<Scalar>(data, threads_);
      },
      part("data", own.front(), own.back() - own.front()).values);
  return assemble_summed(last - first, cols_, entries, threads_);
}
template SparseMatrixOf<double> CsrRows::read(Index, Index) const;
template SparseMatrixOf<float> CsrRows::read(Index, Index) const;

NpzArchive sparse_to_npz(const SparseMatrixOf<double>& matrix) {
  return to_npz(matrix);
}
NpzArchive sparse_to_npz(const SparseMatrixOf<float>& matrix) {
  return to_npz(matrix);
}

}  // namespace pursuit::io
