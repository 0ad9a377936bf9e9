#pragma once
// Atom sets that commands are given, some of which can be made only once the names in the data are known.

#include <optional>
#include <string>
#include <vector>

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit::app {

/// Refused is, before long reading, what can be; nothing where a file of the set calls entries by names.
std::optional<Atoms> set_before_data(const std::string& spec);

/// The set once the data are there.
Atoms set_for(const std::optional<Atoms>& before, const std::string& spec,
              const std::vector<std::string>& names);

}  // namespace pursuit::app
