#include "arrays.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ranks.hpp"

namespace pursuit::python {
namespace {

template <class Scalar>
std::optional<DenseView<Scalar>> view_of(const py::array& X) {
  constexpr auto kItem = py::ssize_t(sizeof(Scalar));
  if ((X.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0) return std::nullopt;
  const auto* data = static_cast<const Scalar*>(X.data());
  const py::ssize_t rows = X.shape(0), cols = X.shape(1), down = X.strides(0), across = X.strides(1);
  if ((cols == 1 || across == kItem) && (rows == 1 || (down >= cols * kItem && down % kItem == 0)))
    return DenseView<Scalar>{data, rows, cols, rows == 1 ? cols : down / kItem, true};
  if ((rows == 1 || down == kItem) && (cols == 1 || (across >= rows * kItem && across % kItem == 0)))
    return DenseView<Scalar>{data, rows, cols, cols == 1 ? rows : across / kItem, false};
  return std::nullopt;
}

template <class Scalar>
ArrayData dense_data(const py::array& X, int threads) {
  if (const auto view = view_of<Scalar>(X)) return {data_matrix(*view, threads), X};
  const py::array_t<Scalar, py::array::c_style | py::array::forcecast> copy(X.attr("copy")("C"));
  return {data_matrix(*view_of<Scalar>(copy), threads), copy};
}

template <class... Scalars>
std::optional<ArrayData> dense_data_of(const py::array& X, int threads) {
  std::optional<ArrayData> data;
  const auto offer = [&]<class Scalar>(std::type_identity<Scalar>) {
    if (!data && py::isinstance<py::array_t<Scalar>>(X)) data = dense_data<Scalar>(X, threads);
  };
  (offer(std::type_identity<Scalars>()), ...);
  return data;
}

/// The array's memory, where it has this type and its elements follow each other.
template <class Element>
const Element* elements(const py::object& array, py::ssize_t at_least) {
  if (!py::isinstance<py::array_t<Element>>(array)) return nullptr;
  const auto typed = py::reinterpret_borrow<py::array_t<Element>>(array);
  if (typed.ndim() != 1 || typed.shape(0) < at_least)
    throw py::value_error("sparse matrix: an array is too short");
  if (typed.shape(0) > 1 && typed.strides(0) != py::ssize_t(sizeof(Element))) return nullptr;
  return typed.data();
}

/// What a SciPy matrix consists of. Values that are whole numbers are a copy, as floats where that loses
/// nothing: products are made in double precision either way.
struct Compressed {
  explicit Compressed(const py::object& X)
      : start(X.attr("indptr")), index(X.attr("indices")), values(X.attr("data")) {
    std::tie(rows, cols) = X.attr("shape").cast<std::pair<Index, Index>>();
    const auto format = X.attr("format").cast<std::string>();
    if (format != "csr" && format != "csc") throw py::type_error("a CSR or CSC matrix is needed");
    by_columns = format == "csc";
    in_order = X.attr("has_sorted_indices").cast<bool>();
    if (const char kind = values.attr("dtype").attr("kind").cast<char>(); kind == 'i' || kind == 'u')
      values = values.attr("astype")(fit_in_float(values) ? "float32" : "float64");
    else if (kind == 'b')
      values = values.attr("astype")("float32");
  }

  static bool fit_in_float(const py::object& numbers) {
    constexpr double kLargest = 1 << 24;
    if (numbers.attr("itemsize").cast<int>() <= 2) return true;
    return numbers.attr("max")(py::arg("initial") = 0).cast<double>() <= kLargest &&
           numbers.attr("min")(py::arg("initial") = 0).cast<double>() >= -kLargest;
  }

  template <class Scalar, class StoredIndex>
  std::optional<SparseView<Scalar, StoredIndex>> view() const {
    const auto* starts = elements<StoredIndex>(start, (by_columns ? cols : rows) + 1);
    if (!starts) return std::nullopt;
    const Index entries = Index(starts[by_columns ? cols : rows]);
    const auto* places = elements<StoredIndex>(index, entries);
    const auto* numbers = elements<Scalar>(values, entries);
    if (!places || !numbers) return std::nullopt;
    return SparseView<Scalar, StoredIndex>{starts, places, numbers, rows, cols, by_columns, in_order};
  }

  py::object start, index, values;
  Index rows = 0, cols = 0;
  bool by_columns = false, in_order = true;
};

/// use(view) of the type it has.
template <class Use>
auto with_view(const Compressed& X, const Use& use) {
  if (const auto view = X.view<double, std::int32_t>()) return use(*view);
  if (const auto view = X.view<double, std::int64_t>()) return use(*view);
  if (const auto view = X.view<float, std::int32_t>()) return use(*view);
  if (const auto view = X.view<float, std::int64_t>()) return use(*view);
  throw py::type_error("a CSR or CSC matrix of real numbers, with indices of one type, is needed");
}

}  // namespace

DoubleView doubles_of(const py::array& X) {
  if (X.ndim() != 2) throw py::type_error("a 2-D array is needed");
  if (py::isinstance<py::array_t<double>>(X))
    if (const auto view = view_of<double>(X)) return {*view, X};
  const py::array_t<double, py::array::c_style | py::array::forcecast> copy(X.attr("astype")("float64", "C"));
  return {*view_of<double>(copy), copy};
}

ArrayData data_of(const py::object& X, int threads) {
  if (py::isinstance<RankedMatrix>(X)) return {X.cast<const RankedMatrix&>().matrix(), X};
  if (py::isinstance<py::array>(X)) {
    auto array = py::reinterpret_borrow<py::array>(X);
    if (py::isinstance<py::array_t<bool>>(array)) array = array.attr("view")("uint8");
    if (array.ndim() == 2)
      if (auto data = dense_data_of<double, float, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                    std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(array, threads))
        return *data;
  } else if (py::hasattr(X, "indptr")) {
    const Compressed compressed(X);
    return {with_view(compressed, [&](const auto& view) { return data_matrix(view, threads); }),
            py::make_tuple(compressed.start, compressed.index, compressed.values)};
  }
  throw py::type_error("a 2-D array, or a CSR or CSC matrix, of real numbers is needed");
}

bool has_duplicates(const py::object& X, int threads) {
  return with_view(Compressed(X), [&](const auto& view) { return pursuit::has_duplicates(view, threads); });
}

}  // namespace pursuit::python
