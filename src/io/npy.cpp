#include "io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/fresh_pages.hpp"
#include "base/parallel.hpp"
#include "io/defect.hpp"
#include "io/npy_header.hpp"
#include "io/utf8.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

template <class Stored>
Stored load(const char* bytes, bool swapped) {
  char ordered[sizeof(Stored)];
  std::memcpy(ordered, bytes, sizeof(Stored));  // the buffer is not aligned
  if (swapped) std::reverse(ordered, ordered + sizeof(Stored));
  Stored value;
  std::memcpy(&value, ordered, sizeof(Stored));
  return value;
}

template <class Stored, class Number>
void decode_as(const NpyHeader& header, Index first, Index count, Number* out) {
  const char* bytes = header.data.data() + first * static_cast<Index>(sizeof(Stored));
  if (std::is_same_v<Stored, Number> && !header.swapped) {
    if (count > 0) std::memcpy(out, bytes, static_cast<std::size_t>(count) * sizeof(Stored));
    return;
  }
  for (Index k = 0; k < count; ++k, bytes += sizeof(Stored)) {
    out[k] = static_cast<Number>(load<Stored>(bytes, header.swapped));
  }
}

/// Elements `first` to `first + count` in the order they are stored.
template <class Number>
void decode(const NpyHeader& header, Index first, Index count, Number* out) {
  switch (header.kind) {
    case 'f':
      if (header.size == 2) return decode_as<Eigen::half>(header, first, count, out);
      return header.size == 4 ? decode_as<float>(header, first, count, out)
                              : decode_as<double>(header, first, count, out);
    case 'b':
      for (Index k = 0; k < count; ++k) out[k] = header.data[static_cast<std::size_t>(first + k)] != 0;
      return;
    case 'i':
      switch (header.size) {
        case 1: return decode_as<std::int8_t>(header, first, count, out);
        case 2: return decode_as<std::int16_t>(header, first, count, out);
        case 4: return decode_as<std::int32_t>(header, first, count, out);
        default: return decode_as<std::int64_t>(header, first, count, out);
      }
    default:
      switch (header.size) {
        case 1: return decode_as<std::uint8_t>(header, first, count, out);
        case 2: return decode_as<std::uint16_t>(header, first, count, out);
        case 4: return decode_as<std::uint32_t>(header, first, count, out);
        default: return decode_as<std::uint64_t>(header, first, count, out);
      }
  }
}

std::string decode_text(const NpyHeader& header, Index k, const std::string& name) {
  const std::string_view bytes = header.data.substr(static_cast<std::size_t>(k) * header.size, header.size);
  if (header.kind == 'S') {
    const std::string_view text = bytes.substr(0, bytes.find_last_not_of('\0') + 1);
    if (!decode_utf8(text)) refuse(name, fmt::format("text element {} {} is not UTF-8", k + 1, shown(text)));
    return std::string(text);
  }
  std::u32string codes;
  for (std::size_t at = 0; at < bytes.size(); at += 4)
    codes.push_back(load<char32_t>(&bytes[at], header.swapped));
  codes.resize(codes.find_last_not_of(U'\0') + 1);  // NumPy pads with NUL
  std::string text;
  for (const char32_t code : codes) {
    if (!is_code_point(code)) {
      refuse(name, fmt::format("text element {} holds {:#x}, which is no unicode character", k + 1,
                               std::uint32_t{code}));
    }
    append_utf8(text, code);
  }
  return text;
}

/// From Fortran order, where the first index runs fastest, to C order, where the last does.
template <class Value>
std::vector<Value> in_c_order(std::vector<Value> values, const std::vector<Index>& shape) {
  std::vector<Value> reordered(values.size());
  std::vector<Index> position(shape.size(), 0);
  for (Value& target : reordered) {
    Index source = 0;
    for (std::size_t d = shape.size(); d-- > 0;) source = source * shape[d] + position[d];
    target = std::move(values[static_cast<std::size_t>(source)]);
    for (std::size_t d = shape.size(); d-- > 0 && ++position[d] == shape[d];) position[d] = 0;
  }
  return reordered;
}

/// All elements, in the order they are stored.
template <class List>
List decode_all(const NpyHeader& header, int threads) {
  List values;
  threads = resolve_threads(threads);
  const auto size = static_cast<std::size_t>(header.count);
  if constexpr (std::is_same_v<List, std::vector<typename List::value_type>>)
    resize_on(threads, values, size);
  else
    values.resize(size);
  constexpr Index kPiece = 1 << 18;
  parallel_for((header.count + kPiece - 1) / kPiece, threads, [&](Index p) {
    const Index first = p * kPiece;
    decode(header, first, std::min(kPiece, header.count - first), values.data() + first);
  });
  return values;
}

/// Rows and columns.
std::pair<Index, Index> matrix_shape(const NpyHeader& header, const std::string& name) {
  if (header.kind == 'U' || header.kind == 'S') refuse(name, "the array holds text, not numbers");
  if (header.shape.empty() || header.shape.size() > 2) {
    refuse(name,
           fmt::format("the array has {} dimensions (shape {}); a matrix has 2, and 1 is read as one column",
                       header.shape.size(), shape_text(header.shape)));
  }
  const Index rows = header.shape[0], columns = header.shape.size() == 2 ? header.shape[1] : 1;
  if (rows == 0 || columns == 0) refuse(name, fmt::format("empty matrix ({} x {})", rows, columns));
  return {rows, columns};
}

bool runs_by_rows(const NpyHeader& header) {
  return !header.fortran_order && header.shape.size() == 2;
}

/// Whether numbers of this type can be used where they are.
template <class Number>
bool may_stay(const NpyHeader& header, const std::shared_ptr<const void>& owner) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(header.data.data()) % alignof(Number) == 0;
  return header.size == sizeof(Number) && !header.swapped && aligned && owner;
}

template <class Whole>
DataMatrixPtr where_it_lies(const NpyHeader& header, const std::shared_ptr<const void>& owner,
                            const std::pair<Index, Index>& shape, int threads) {
  if (!may_stay<Whole>(header, owner)) return nullptr;
  const auto [rows, columns] = shape;
  const bool row_major = runs_by_rows(header);
  const DataMatrixPtr matrix =
      data_matrix(DenseView<Whole>{reinterpret_cast<const Whole*>(header.data.data()), rows, columns,
                                   row_major ? columns : rows, row_major},
                  threads);
  return {matrix.get(), [matrix, owner](const DataMatrix*) {}};
}

template <class Scalar>
DenseArray<Scalar> decode_matrix(const NpyHeader& header, const std::shared_ptr<const void>& owner,
                                 Index rows, Index columns, int threads) {
  const bool row_major = runs_by_rows(header);
  if (header.kind == 'f' && may_stay<Scalar>(header, owner))
    return {{reinterpret_cast<const Scalar*>(header.data.data()), rows, columns, row_major ? columns : rows,
             row_major},
            owner};
  return dense_array(decode_all<PlainVector<Scalar>>(header, threads), rows, columns, row_major);
}

template <class Number>
const char* type_of() {
  constexpr bool kLittle = kNativeByteOrder == '<';
  if (std::is_same_v<Number, float>) return kLittle ? "<f4" : ">f4";
  if (std::is_same_v<Number, double>) return kLittle ? "<f8" : ">f8";
  return kLittle ? "<i8" : ">i8";
}

template <class Number>
NpyBytes bytes_of_numbers(const Number* values, Index count, bool fortran_order,
                          const std::vector<Index>& shape) {
  return {format_npy_header(type_of<Number>(), fortran_order, shape),
          {reinterpret_cast<const char*>(values), static_cast<std::size_t>(count) * sizeof(Number)}};
}

std::string format_texts(const std::vector<std::string>& texts, const std::vector<Index>& shape) {
  std::vector<std::u32string> decoded;
  std::size_t longest = 1;
  for (const std::string& text : texts) {
    auto codes = decode_utf8(text);
    if (!codes)
      throw InvalidArgument(fmt::format("the text {} cannot be stored: it is not UTF-8", shown(text)));
    longest = std::max(longest, codes->size());
    decoded.push_back(std::move(*codes));
  }
  std::string bytes = format_npy_header(fmt::format("{}U{}", kNativeByteOrder, longest), false, shape);
  for (std::u32string& codes : decoded) {
    codes.resize(longest, U'\0');
    bytes.append(reinterpret_cast<const char*>(codes.data()), longest * sizeof(char32_t));
  }
  return bytes;
}

/// The type that numbers are written as.
template <class Number>
using InFile = std::conditional_t<std::is_same_v<Number, int>, std::int64_t, Number>;

template <class Dense>
NpyBytes array_bytes(const Dense& matrix) {
  return bytes_of_numbers(matrix.data(), matrix.size(), true, {matrix.rows(), matrix.cols()});
}

}  // namespace

namespace {

/// Of elements which the array has so many before.
decltype(NpyArray::values) decode_values(const NpyHeader& header, Index before, const std::string& name,
                                         int threads) {
  if (header.kind == 'U' || header.kind == 'S') {
    std::vector<std::string> texts;
    for (Index k = 0; k < header.count; ++k) texts.push_back(decode_text(header, k, name));
    return texts;
  }
  if (header.kind == 'f' && header.size <= 4) return decode_all<std::vector<float>>(header, threads);
  if (header.kind == 'f') return decode_all<std::vector<double>>(header, threads);
  auto integers = decode_all<std::vector<std::int64_t>>(header, threads);
  if (header.kind == 'u') {  // what int64 cannot hold has come out negative
    const auto beyond = std::find_if(integers.begin(), integers.end(), [](std::int64_t x) { return x < 0; });
    if (beyond != integers.end()) {
      refuse(name,
             fmt::format("element {} is {}, more than a signed 64-bit integer can hold",
                         before + (beyond - integers.begin()) + 1, static_cast<std::uint64_t>(*beyond)));
    }
  }
  return integers;
}

}  // namespace

NpyArray parse_npy(std::string_view bytes, const std::string& name, int threads) {
  const NpyHeader header = parse_npy_header(bytes, name);
  NpyArray array;
  array.shape = header.shape;
  array.values = decode_values(header, 0, name, threads);
  if (header.fortran_order && header.shape.size() > 1) {
    std::visit([&](auto& values) { values = in_c_order(std::move(values), header.shape); }, array.values);
  }
  return array;
}

NpyArray parse_npy_part(std::string_view bytes, Index first, Index count, const std::string& name,
                        int threads) {
  NpyHeader part = parse_npy_header(bytes, name);
  NpyArray array;
  array.shape = part.shape;
  part.count = count;
  part.data = part.data.substr(static_cast<std::size_t>(first) * part.size,
                               static_cast<std::size_t>(count) * part.size);
  array.values = decode_values(part, first, name, threads);
  return array;
}

StoredMatrix parse_npy_matrix(const Bytes& bytes, const std::string& name, int threads) {
  const NpyHeader header = parse_npy_header(bytes.view, name);
  const auto [rows, columns] = matrix_shape(header, name);
  if (header.kind == 'f' && header.size <= 4)
    return decode_matrix<float>(header, bytes.owner, rows, columns, threads);
  return decode_matrix<double>(header, bytes.owner, rows, columns, threads);
}

DataMatrixPtr whole_number_matrix(const Bytes& bytes, const std::string& name, int threads) {
  const NpyHeader header = parse_npy_header(bytes.view, name);
  const auto shape = matrix_shape(header, name);
  const auto as = [&]<class Whole>(Whole) {
    return where_it_lies<Whole>(header, bytes.owner, shape, threads);
  };
  switch (header.kind) {
    case 'b':  // any byte but zero is true
      if (!std::all_of(header.data.begin(), header.data.end(), [](char c) { return (c & ~1) == 0; }))
        return nullptr;
      return as(std::uint8_t());
    case 'i':
      switch (header.size) {
        case 1: return as(std::int8_t());
        case 2: return as(std::int16_t());
        case 4: return as(std::int32_t());
        default: return as(std::int64_t());
      }
    case 'u':
      switch (header.size) {
        case 1: return as(std::uint8_t());
        case 2: return as(std::uint16_t());
        case 4: return as(std::uint32_t());
        default: return as(std::uint64_t());
      }
    default: return nullptr;
  }
}

NpyBytes npy_bytes(const NpyArray& array) {
  return std::visit(
      [&](const auto& values) -> NpyBytes {
        if (array.shape.size() > kMostDimensions) {
          throw InvalidArgument(fmt::format("an array cannot have {} dimensions; at most {} are supported",
                                            array.shape.size(), kMostDimensions));
        }
        std::size_t expected = 1;
        for (const Index extent : array.shape) expected *= static_cast<std::size_t>(extent);
        if (expected != values.size()) {
          throw InvalidArgument(fmt::format("an array of shape {} cannot have {} values",
                                            shape_text(array.shape), values.size()));
        }
        using Value = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<Value, std::string>) {
          return {format_texts(values, array.shape), {}};
        } else {
          return bytes_of_numbers(values.data(), static_cast<Index>(values.size()), false, array.shape);
        }
      },
      array.values);
}

NpyBytes npy_bytes(const Matrix& matrix) {
  return array_bytes(matrix);
}
NpyBytes npy_bytes(const Eigen::MatrixXf& matrix) {
  return array_bytes(matrix);
}

std::uint64_t npy_size(const NpyNumbers& numbers) {
  return std::visit(
      [](const auto& list) {
        return std::uint64_t(list.size()) * sizeof(InFile<std::remove_cvref_t<decltype(list[0])>>);
      },
      numbers);
}

std::string npy_list_header(const NpyNumbers& numbers, std::uint64_t size) {
  return std::visit(
      [&](const auto& list) {
        using Stored = InFile<std::remove_cvref_t<decltype(list[0])>>;
        return format_npy_header(type_of<Stored>(), false, {Index(size / sizeof(Stored))});
      },
      numbers);
}

std::string_view npy_part(const NpyNumbers& numbers, std::uint64_t first, std::size_t count,
                          std::string& room) {
  return std::visit(
      [&](const auto& list) -> std::string_view {
        using Number = std::remove_cvref_t<decltype(list[0])>;
        using Stored = InFile<Number>;
        if constexpr (std::is_same_v<Number, Stored>) {
          const std::string_view bytes(reinterpret_cast<const char*>(list.data()), list.size_bytes());
          return bytes.substr(first, count);
        } else {
          const std::size_t from = first / sizeof(Stored),
                            to = (first + count + sizeof(Stored) - 1) / sizeof(Stored);
          room.resize((to - from) * sizeof(Stored));
          for (std::size_t k = from; k < to; ++k) {
            const auto stored = Stored(list[k]);
            std::memcpy(room.data() + (k - from) * sizeof stored, &stored, sizeof stored);
          }
          return std::string_view(room).substr(first - from * sizeof(Stored), count);
        }
      },
      numbers);
}

}  // namespace pursuit::io
