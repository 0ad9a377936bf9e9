#pragma once
// Work shared among threads. Callers cut work into pieces that depend on the sizes only, never on the number
// of threads, and each piece writes its own output: results are then the same bits for any thread count.

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#if defined(__SANITIZE_THREAD__)
#include <atomic>
#include <thread>
#include <vector>
#endif

#include "base/machine.hpp"
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
template <class Work>
void parallel_for(Index count, int threads, const Work& work) {
  if (threads <= 1 || count <= 1) {
    for (Index i = 0; i < count; ++i) work(i);
    return;
  }
  // OpenMP keeps the threads of a team for the next one of the same size: asked once, not every time.
  thread_local int wanted = 1, startable = 1;
  if (threads != wanted) {
    startable = startable_threads(threads);
    wanted = threads;
  }
  threads = startable;
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
#if defined(__SANITIZE_THREAD__)
  // The thread sanitizer cannot see libgomp's barriers and would report races that are not there.
  std::atomic<Index> next{0};
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&] {
      for (Index i; (i = next++) < count;) guarded(i);
    });
  for (auto& member : team) member.join();
#else
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (Index i = 0; i < count; ++i) guarded(i);
#endif
  if (failure) std::rethrow_exception(failure);
}

}  // namespace pursuit
