#include "io/ratings_arrays.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "io/defect.hpp"
#include "io/npy.hpp"
#include "io/npz_entries.hpp"
#include "io/scipy_sparse.hpp"
#include "io/sparse_assembly.hpp"

namespace pursuit::io {

namespace {

using Integers = std::vector<std::int64_t>;

template <class Scalar>
void read_dense(const DenseView<Scalar>& matrix, RatingsCollector& ratings, RatingsPart& part) {
  const Index down = matrix.row_major ? matrix.stride : 1, across = matrix.row_major ? 1 : matrix.stride;
  for (Index i = 0; i < matrix.rows; ++i) {
    for (Index j = 0; j < matrix.cols; ++j) {
      const auto value = static_cast<double>(matrix.data[i * down + j * across]);
      if (std::isnan(value)) continue;
      float rating = 0;
      if (!to_rating(value, rating)) {
        refuse_rating(value, fmt::format("{}", value),
                      fmt::format("{}, row {}, column {} (counted from 0)", ratings.name(), i, j));
      }
      part.add(static_cast<int>(i), static_cast<int>(j), rating, 0);
    }
  }
  if (part.value.empty()) refuse(ratings.name(), "every entry is NaN: nothing is observed");
  if (Index(part.value.size()) == matrix.rows * matrix.cols) {
    refuse(ratings.name(),
           "no entry of the dense array is NaN, so none is unknown; `pursuit factor` is for "
           "matrices that are fully known");
  }
}

/// The stored entries of an archive that sparse_from_npz() has accepted, in the order in which they are
/// stored.
template <class Stored>
void read_stored(const NpzArchive& archive, const std::vector<Stored>& data, const RatingsCollector& ratings,
                 RatingsPart& part) {
  const auto integers = [&](const char* field) -> const Integers& {
    return std::get<Integers>(archive.at(field).values);
  };
  const auto add = [&](std::int64_t row, std::int64_t col, std::size_t k) {
    const auto value = static_cast<double>(data[k]);
    float rating = 0;
    if (!to_rating(value, rating)) {
      refuse_rating(value, fmt::format("{}", data[k]),
                    fmt::format("{}, element {}", at_array(ratings.name(), "data"), k));
    }
    part.add(static_cast<int>(row), static_cast<int>(col), rating, 0);
  };
  const std::string layout = std::get<std::vector<std::string>>(archive.at("format").values).front();
  if (layout == "coo") {
    const Integers &row = integers("row"), &col = integers("col");
    for (std::size_t k = 0; k < data.size(); ++k) add(row[k], col[k], k);
    return;
  }
  const bool by_row = layout == "csr";
  const Integers &starts = integers("indptr"), &indices = integers("indices");
  for (std::size_t line = 0; line + 1 < starts.size(); ++line) {
    const auto outer = static_cast<std::int64_t>(line);
    for (std::int64_t k = starts[line]; k < starts[line + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      add(by_row ? outer : indices[at], by_row ? indices[at] : outer, at);
    }
  }
}

}  // namespace

void read_dense_ratings(const Bytes& npy, RatingsCollector& ratings) {
  const StoredMatrix matrix = parse_npy_matrix(npy, ratings.name());
  std::vector<RatingsPart> parts(1);
  const auto read = [&](const auto& view) {
    require_indexable(ratings.name(), view.rows, view.cols);
    read_dense(view, ratings, parts.front());
    ratings.append(parts);
    ratings.name_positions(0, view.rows, view.cols);
  };
  if (const auto* stored = std::get_if<DenseArray<float>>(&matrix))
    read(stored->view);
  else
    read(std::get<DenseArray<double>>(matrix).view);
}

void read_sparse_ratings(const Bytes& npz, RatingsCollector& ratings) {
  const std::string& name = ratings.name();
  NpzArchive archive = decode_npz(unpack_npz(npz, name), name);
  if (!archive.contains("format")) {
    refuse(name,
           "the archive holds no SciPy sparse matrix; of .npz files only those of scipy.sparse.save_npz "
           "hold observed entries");
  }
  // Refuses whatever is wrong with the layout and the positions. What it returns has duplicates summed, which
  // is not what repeated observations mean; so it gets ones for values, and the entries are taken from the
  // arrays.
  NpyArray data;
  if (const auto found = archive.find("data"); found != archive.end()) {
    data = found->second;
    const auto take_ones = [](const auto& values) -> decltype(NpyArray::values) {
      if constexpr (std::is_same_v<std::decay_t<decltype(values)>, std::vector<std::string>>) return values;
      return std::vector<float>(values.size(), 1.0F);
    };
    found->second.values = std::visit(take_ones, data.values);
  }
  sparse_from_npz(archive, name);
  const Integers& shape = std::get<Integers>(archive.at("shape").values);
  std::vector<RatingsPart> parts(1);
  std::visit(
      [&](const auto& values) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(values)>, std::vector<std::string>>)
          read_stored(archive, values, ratings, parts.front());
      },
      data.values);
  ratings.append(parts);
  ratings.name_positions(0, shape[0], shape[1]);
}

}  // namespace pursuit::io
