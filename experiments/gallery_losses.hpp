#pragma once
#include <string>

namespace pursuit {

/// What losses are for: writes pictures into the current folder, and returns the section about them.
std::string section_about_losses();

}  // namespace pursuit
