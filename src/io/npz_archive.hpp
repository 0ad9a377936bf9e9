#pragma once
// NumPy's .npz: a zip archive of named arrays. The subset that needs no pickle: real numbers and unicode
// text.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// One array of the archive: numbers keep whether they were float32, float64 or integers; text is UTF-8.
struct NpyArray {
  std::vector<Index> shape;  // empty for a scalar
  std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>, std::vector<std::string>>
      values;
};

using NpzArchive = std::map<std::string, NpyArray>;  // keyed without the ".npy" suffix; values in C order

/// Booleans are read as integers. NaN and infinity are passed on. Throws InvalidInput (what, where, which
/// value) for anything that is not a well-formed archive of such arrays.
NpzArchive read_npz(const std::filesystem::path& path, int threads = 0);

/// Written to a temporary file beside `path` and renamed, so the file appears whole or not at all. Equal
/// archives give equal bytes. Throws OutputFailure where it cannot be written, InvalidArgument where a shape
/// and its values disagree.
void write_npz(const std::filesystem::path& path, const NpzArchive& archive, int threads = 0);

}  // namespace pursuit
