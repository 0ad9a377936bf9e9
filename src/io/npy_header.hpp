#pragma once
// The header of NumPy's .npy format (versions 1 to 3): what the numbers are and how they are laid out.

#include <bit>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit::io {

struct NpyHeader {
  char kind = 'f';  // f: floating point, i: signed, u: unsigned, b: boolean, U: unicode text, S: byte text
  std::size_t size = 8;  // bytes of one element
  bool swapped = false;  // the bytes of a number are in the order that this machine does not use
  bool fortran_order = false;
  std::vector<Index> shape;
  Index count = 1;        // elements: the product of the shape
  std::string_view data;  // exactly count * size bytes of the buffer
};

constexpr std::size_t kMostDimensions = 64;  // NumPy's own limit
constexpr char kNativeByteOrder = std::endian::native == std::endian::little ? '<' : '>';

bool is_npy(std::string_view bytes);

/// Throws InvalidInput unless `bytes` are one array of a type listed above whose data are all there, nothing
/// more.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

/// Everything that comes before the data. `type` is NumPy's notation, such as "<f8".
std::string format_npy_header(std::string_view type, bool fortran_order, const std::vector<Index>& shape);

/// "(3, 4)", as NumPy writes it.
std::string shape_text(const std::vector<Index>& shape);

}  // namespace pursuit::io
