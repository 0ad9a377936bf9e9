#pragma once
// What lies between a .npz file and its arrays: the archive's entries, unpacked but not yet decoded.

#include <map>
#include <string>
#include <string_view>

#include "io/npy.hpp"
#include "io/npz_archive.hpp"

namespace pursuit::io {

using NpzEntries =
    std::map<std::string, std::string>;  // array name, without ".npy" -> bytes of its .npy file

/// Throws InvalidInput for a damaged archive, and for one that holds anything else than arrays.
NpzEntries unpack_npz(std::string_view bytes, const std::string& name);

/// "data.npz, array 'x'", for messages.
std::string at_array(const std::string& name, const std::string& array);

NpzArchive decode_npz(const NpzEntries& entries, const std::string& name);

std::string pack_npz(const std::map<std::string, NpyBytes>& arrays);

}  // namespace pursuit::io
