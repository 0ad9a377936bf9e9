#include "pursuit/base/version.hpp"

namespace pursuit {

const char* version() {
  return PURSUIT_VERSION;
}

}  // namespace pursuit
