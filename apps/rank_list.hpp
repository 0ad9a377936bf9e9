#pragma once

#include <string>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit::app {

/// Numbers of atoms as users write them, "2-10" or "1,2,5-8": ascending, each once. InvalidArgument names
/// what is wrong.
std::vector<Index> ranks_of(const std::string& text);

}  // namespace pursuit::app
