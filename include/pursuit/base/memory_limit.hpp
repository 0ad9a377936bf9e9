#pragma once
// The memory that this process may have at most.

#include <cstdint>
#include <optional>

namespace pursuit {

/// Once, by the program: available_memory() ends at so many bytes from now on. Like the limits of the system
/// it is of the whole process.
void limit_memory(std::uint64_t bytes);

/// That, or what the limits of the system (ulimit) let this process have, where it is less; none where there
/// is none.
std::optional<std::uint64_t> memory_limit();

/// Bytes that are in use, copies of files aside.
std::uint64_t used_memory();

}  // namespace pursuit
