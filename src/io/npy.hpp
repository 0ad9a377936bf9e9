#pragma once
// NumPy's .npy format to and from memory.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "io/byte_source.hpp"
#include "io/npz_archive.hpp"
#include "io/stored_matrix.hpp"
#include "pursuit/base/types.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit::io {

/// Any array of numbers or text, in C order whatever the order it was stored in. Integers and booleans become
/// int64; a uint64 beyond that is refused. NaN and infinity are the caller's business.
NpyArray parse_npy(std::string_view bytes, const std::string& name, int threads = 1);

/// The same of some consecutive elements of an array of one dimension: its shape, and their values. Messages
/// count from its first element.
NpyArray parse_npy_part(std::string_view bytes, Index first, Index count, const std::string& name,
                        int threads = 1);

/// A dense matrix: float32 and float64 of this machine's byte order stay where they lie, in either storage
/// order; float16 becomes float32, all else float64. An array of one dimension is one column; any other
/// number of dimensions than two is refused, as are text and an empty array.
StoredMatrix parse_npy_matrix(const Bytes& bytes, const std::string& name, int threads = 1);

/// A matrix of whole numbers, or of zeros and ones, that is multiplied as it lies in the file, to the bits of
/// one of float64; null where it is of another type or has to be moved or turned around first.
DataMatrixPtr whole_number_matrix(const Bytes& bytes, const std::string& name, int threads);

/// A .npy file without a copy of its numbers: they lie in the array, which must outlive this.
struct NpyBytes {
  std::string head;       // the header, and text
  std::string_view body;  // numbers
};

/// Throws InvalidArgument where the shape and the number of values disagree or text is not UTF-8.
NpyBytes npy_bytes(const NpyArray& array);

/// In Fortran order, which is Eigen's own.
NpyBytes npy_bytes(const Matrix& matrix);
NpyBytes npy_bytes(const Eigen::MatrixXf& matrix);

/// A list of numbers where they lie. Those of 32 bits are written as whole numbers of 64, which files have.
using NpyNumbers = std::variant<std::span<const double>, std::span<const float>,
                                std::span<const std::int64_t>, std::span<const int>>;

/// How many bytes a file has of them.
std::uint64_t npy_size(const NpyNumbers& numbers);

/// The header of a list of so many bytes of such numbers.
std::string npy_list_header(const NpyNumbers& numbers, std::uint64_t size);

/// Some of these bytes: where they lie, or in `room`.
std::string_view npy_part(const NpyNumbers& numbers, std::uint64_t first, std::size_t count,
                          std::string& room);

template <class Array>
std::string format_npy(const Array& array) {
  const NpyBytes bytes = npy_bytes(array);
  return std::string(bytes.head).append(bytes.body);
}
inline std::string format_npy(const NpyArray& array) {
  return format_npy<NpyArray>(array);
}

}  // namespace pursuit::io
