#pragma once
#include <functional>
#include <string>

namespace pursuit::fuzz {

using Mutate = std::function<std::string(const std::string&)>;

/// Changed by `mutate`, which knows nothing of formats. The checksums of an archive would give every change
/// away, so that nothing behind them was ever reached: all but a few times, which `choice` decides, an
/// archive is unpacked, one of its entries changed, and packed again.
std::string mutated(const std::string& bytes, unsigned choice, const Mutate& mutate);

}  // namespace pursuit::fuzz
