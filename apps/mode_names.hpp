#pragma once
// Names of an array's modes and of their indices, in models.

#include <string>
#include <vector>

#include "pursuit/io/model_file.hpp"
#include "pursuit/io/tensor_names.hpp"

namespace pursuit::app {

void take_mode_names(const ModeNames& names, const std::vector<std::string>& labels, ModelFile& file);

/// What the modes are called; none where the data did not say.
std::vector<std::string> labels_of(const ModelFile& file);

/// Of an array of three and more modes.
ModePlaces places_of(const ModelFile& file);

}  // namespace pursuit::app
