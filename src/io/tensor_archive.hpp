#pragma once
// Arrays in .npz archives: one array, or coords, data and shape; and names_0, names_1, ... beside them.

#include <string>
#include <vector>

#include "io/npz_entries.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit::io {

bool lists_coordinates(const NpzEntries& entries);

/// The array that an archive holds beside names.
const NpzEntries::value_type& only_array(const NpzEntries& entries, const std::string& name);

/// Names of the indices of every mode; none where there are none.
ModeNames names_in(const NpzEntries& entries, const std::vector<Index>& shape, const std::string& name);

}  // namespace pursuit::io
