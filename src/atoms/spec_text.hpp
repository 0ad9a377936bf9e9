#pragma once
// Names of files inside specs, NAME:FILE:NUMBER...

#include <string>

namespace pursuit {

/// A path as a parameter of a spec: in quotes, its own ones doubled, where it holds a character that means
/// something there.
inline std::string spec_path(const std::string& path) {
  if (path.find_first_of(":+|,\"") == std::string::npos) return path;
  std::string text = "\"";
  for (const char c : path) text.append(c == '"' ? 2 : 1, c);
  return text + "\"";
}

}  // namespace pursuit
