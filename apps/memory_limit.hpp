#pragma once
// The memory that a run may use, which the user can limit.

#include <cstdint>
#include <string>

namespace pursuit::app {

/// Bytes of "500M", "1.5G", "8 GiB" or a plain number; InvalidArgument for anything else.
std::uint64_t parse_memory_size(const std::string& option, const std::string& text);

/// From now on readers refuse what does not fit, and whatever else takes more than so many bytes, copies of
/// files aside, ends the process with a message and the status of input that cannot be used.
void watch_memory(std::uint64_t bytes);

/// For a run that got none: one line, made without taking memory.
void tell_of_memory();

}  // namespace pursuit::app
