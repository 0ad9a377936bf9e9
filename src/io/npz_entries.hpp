#pragma once
// What lies between a .npz file and its arrays: the archive's entries, unpacked but not yet decoded.

#include <map>
#include <string>
#include <string_view>

#include "io/npy.hpp"
#include "io/npz_archive.hpp"
#include "io/text_writer.hpp"
#include "io/zip_writer.hpp"

namespace pursuit::io {

using NpzEntries = std::map<std::string, Bytes>;  // array name, without ".npy" -> its .npy file

/// Throws InvalidInput for a damaged archive, and for one that holds anything else than arrays.
NpzEntries unpack_npz(const Bytes& archive, const std::string& name, int threads = 1);

/// "data.npz, array 'x'", for messages.
std::string at_array(const std::string& name, const std::string& array);

NpzArchive decode_npz(const NpzEntries& entries, const std::string& name, int threads = 1);

/// What the zip archive calls an array.
std::string npz_file(const std::string& array);

/// The files of an archive of these arrays, which must outlive them.
ZipPieces npz_files(const std::map<std::string, NpyBytes>& arrays);

void pack_npz(const std::map<std::string, NpyBytes>& arrays, const Sink& sink, int threads);

}  // namespace pursuit::io
