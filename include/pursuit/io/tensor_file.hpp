#pragma once
// Arrays of three and more modes in files: NumPy .npy (mapped into memory where its numbers can be used as
// they lie), .npz of one such array or of coordinates as the package `sparse` writes them (coords, data,
// shape), and FROSTT's .tns text (plain or gzip): on every line the indices of an entry, counted from 1, and
// its value. A place that a sparse file does not list is a zero.

#include <filesystem>
#include <vector>

#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {

struct TensorData {
  TargetPtr target;  // owns what it needs
  std::vector<Index> shape;
  Index stored = 0;  // entries
};

/// Whether a file is such an array by its content, or a .tns file by its name; false where it cannot be read
/// twice, or at all.
bool is_tensor_file(const std::filesystem::path& path);

/// Two modes are taken too. Every defect is an InvalidInput that names the file, the place and the value.
TensorData read_tensor(const std::filesystem::path& path, int threads = 0);

/// The array that an expansion stands for, with offsets and through the link of a loss, its last index
/// running fastest, as .npy. InvalidInput where it has more entries than memory can hold.
void write_tensor(const std::filesystem::path& path, const Expansion& model, const Loss& loss = {},
                  const OwnTerms& own = {});

}  // namespace pursuit
