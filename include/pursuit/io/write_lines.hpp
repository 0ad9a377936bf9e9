#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// Hands to `write`, in order, the text that append(text, k) appends for every k from 0 to below `count`, of
/// about so many cells each. Formatted on up to `threads` threads (0: all cores): append() must be fit for
/// that.
void write_lines(Index count, Index cells, int threads,
                 const std::function<void(std::string&, Index)>& append,
                 const std::function<void(std::string_view)>& write);

}  // namespace pursuit
