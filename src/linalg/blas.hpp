#pragma once
// OpenBLAS, whose LAPACK decomposes small matrices, on one thread per call: its threading changes the bits.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// While alive, OpenBLAS runs on the calling thread only. The previous setting, which belongs to the process,
/// comes back when the last of them is gone: runs may go on side by side, on threads of a user's own.
///
/// Every thread that calls OpenBLAS needs a buffer of it, for which OpenBLAS tries for ever where there is no
/// memory. So it is had before, and where there is no memory std::bad_alloc is thrown.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
};

/// A size as OpenBLAS counts, which may be only to 2^31; InvalidInput beyond.
int blas_size(Index size);

}  // namespace pursuit
