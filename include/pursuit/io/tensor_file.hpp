#pragma once
// Arrays of three and more modes in files: NumPy .npy (mapped into memory where its numbers can be used as
// they lie), .npz of one such array or of coordinates as the package `sparse` writes them (coords, data,
// shape), FROSTT's .tns text (plain or gzip): on every line the indices of an entry, counted from 1, and its
// value; and tables of ids (CSV, TSV): on every line an id for each mode and the value. A place that a sparse
// file does not list is a zero. An .npz may hold the names of a mode's indices as names_0, names_1, ...

#include <filesystem>
#include <string>
#include <vector>

#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {

/// Names of the indices of every mode; empty where there are none.
using ModeNames = std::vector<std::vector<std::string>>;

struct TensorData {
  TensorPtr target;  // owns what it needs
  std::vector<Index> shape;
  Index stored = 0;  // entries
  ModeNames names = {};
  std::vector<std::string> labels = {};  // of the modes, where a table has them
};

/// Whether a file is such an array by its content, or a .tns file by its name; false where it cannot be read
/// twice, or at all.
bool is_tensor_file(const std::filesystem::path& path);

/// Two modes are taken too. Every defect is an InvalidInput that names the file, the place and the value.
TensorData read_tensor(const std::filesystem::path& path, int threads = 0);

/// The array that an expansion stands for, with offsets and through the link of a loss, its last index
/// running fastest: as .npy; where modes have names also as a table of ids and values (.csv), under `labels`
/// of the modes. InvalidInput where it has more entries than can be counted.
void write_tensor(const std::filesystem::path& path, const Expansion& model, const Loss& loss = {},
                  const OwnTerms& own = {}, const ModeNames& names = {},
                  const std::vector<std::string>& labels = {});

}  // namespace pursuit
