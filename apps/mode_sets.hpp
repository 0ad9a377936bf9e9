#pragma once
// --modes and --symmetric-modes of arrays.

#include <string>

#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit::app {

/// The number of a mode, counted from 0; `whose` says who names it.
Index mode_of(const std::string& text, Index modes, const std::string& whose);

/// One set for every mode, separated by commas, spheres where nothing is said; and the modes that share their
/// factors. Files of sets may call the indices of a mode by their names, where the data have any.
AtomSets sets_of_modes(const std::string& sets, const std::string& symmetric_modes, Index modes,
                       const ModeNames& names);

/// As --modes takes them.
std::string specs_of(const AtomSets& sets);

}  // namespace pursuit::app
