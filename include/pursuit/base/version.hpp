#pragma once

namespace pursuit {

/// The version of this library, which is also written into every model.
const char* version();

}  // namespace pursuit
