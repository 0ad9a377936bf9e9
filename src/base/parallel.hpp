#pragma once
// Work shared among threads. Callers cut work into pieces that depend on the sizes only, never on the number
// of threads, and each piece writes its own output: results are then the same bits for any thread count.

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>

#include "base/machine.hpp"
#include "base/thread_pool.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit {

/// The number of threads meant by an option where 0 says "all cores". More threads than cores gain nothing
/// and results do not depend on them, so that larger numbers mean all cores too. Negative ones are refused.
inline int resolve_threads(int threads) {
  if (threads < 0)
    throw InvalidArgument("threads " + std::to_string(threads) + ": must be 0 (all cores) or more");
  return threads > 0 ? std::min(threads, usable_cores()) : usable_cores();
}

/// Calls work(0) .. work(count-1), each once, on up to `threads` threads. The first exception is rethrown.
/// Called from within such work, the pieces are done one after the other.
template <class Work>
void parallel_for(Index count, int threads, const Work& work) {
  if (threads <= 1 || count <= 1) {
    for (Index i = 0; i < count; ++i) work(i);
    return;
  }
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto guarded = [&](Index i) {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  using Guarded = decltype(guarded);
  share_pieces(
      {count, &guarded, [](const void* pieces, Index i) { (*static_cast<const Guarded*>(pieces))(i); }},
      threads);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace pursuit
