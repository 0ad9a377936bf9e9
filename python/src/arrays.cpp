#include "arrays.hpp"

#include <cstdint>
#include <optional>
#include <string>

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

template <class Scalar, class StoredIndex>
std::optional<ArrayData> sparse_data(const py::object& X, bool by_columns, int threads) {
  const auto [rows, cols] = X.attr("shape").cast<std::pair<Index, Index>>();
  const py::object start = X.attr("indptr"), index = X.attr("indices"), values = X.attr("data");
  const auto* starts = elements<StoredIndex>(start, (by_columns ? cols : rows) + 1);
  if (!starts) return std::nullopt;
  const Index entries = Index(starts[by_columns ? cols : rows]);
  const auto* places = elements<StoredIndex>(index, entries);
  const auto* numbers = elements<Scalar>(values, entries);
  if (!places || !numbers) return std::nullopt;
  return ArrayData{
      data_matrix(SparseView<Scalar, StoredIndex>{starts, places, numbers, rows, cols, by_columns}, threads),
      py::make_tuple(start, index, values)};
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
  if (py::isinstance<py::array>(X)) {
    const auto array = py::reinterpret_borrow<py::array>(X);
    if (array.ndim() == 2 && py::isinstance<py::array_t<double>>(array))
      return dense_data<double>(array, threads);
    if (array.ndim() == 2 && py::isinstance<py::array_t<float>>(array))
      return dense_data<float>(array, threads);
  } else if (py::hasattr(X, "indptr")) {
    const auto format = X.attr("format").cast<std::string>();
    if (format == "csr" || format == "csc") {
      const bool by_columns = format == "csc";
      if (auto data = sparse_data<double, std::int32_t>(X, by_columns, threads)) return *data;
      if (auto data = sparse_data<double, std::int64_t>(X, by_columns, threads)) return *data;
      if (auto data = sparse_data<float, std::int32_t>(X, by_columns, threads)) return *data;
      if (auto data = sparse_data<float, std::int64_t>(X, by_columns, threads)) return *data;
    }
  }
  throw py::type_error("a 2-D array, or a CSR or CSC matrix, of float32 or float64 is needed");
}

}  // namespace pursuit::python
