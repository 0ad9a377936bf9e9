#pragma once

#include <string>

#include "pursuit/base/error.hpp"

namespace pursuit {

/// What is asked for must be fine; the message says what is, and why.
inline void require(bool fine, const std::string& message) {
  if (!fine) throw InvalidArgument(message);
}

}  // namespace pursuit
