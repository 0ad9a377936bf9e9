#pragma once
// What this process may use of the machine, which can be far less than the machine has: containers, batch
// systems and ulimit all hand out shares.

#include <cstdint>
#include <optional>
#include <string>

namespace pursuit {

/// Cores: those it may run on, and no more than its control group's share of processor time, rounded up.
/// Looked up once.
int usable_cores();

/// Bytes that can still be had: what is free in the machine, in the control group and under the limit of the
/// address space.
std::uint64_t available_memory();

/// Whole cores of a control group's "quota period"; none for "max" or for text that says nothing.
std::optional<int> cores_of_quota(const std::string& text);

}  // namespace pursuit
