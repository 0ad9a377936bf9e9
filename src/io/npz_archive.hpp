#pragma once
// NumPy's .npz: a zip archive of named arrays. The subset that needs no pickle: real numbers and unicode
// text.

#include <filesystem>

#include "pursuit/base/state_archive.hpp"

namespace pursuit {

using NpyArray = StoredArray;
using NpzArchive = Snapshot;  // keyed without the ".npy" suffix

/// Booleans are read as integers. NaN and infinity are passed on. Throws InvalidInput (what, where, which
/// value) for anything that is not a well-formed archive of such arrays.
NpzArchive read_npz(const std::filesystem::path& path, int threads = 0);

/// Written to a temporary file beside `path` and renamed, so the file appears whole or not at all. Equal
/// archives give equal bytes. Throws OutputFailure where it cannot be written, InvalidArgument where a shape
/// and its values disagree.
void write_npz(const std::filesystem::path& path, const NpzArchive& archive, int threads = 0);

}  // namespace pursuit
