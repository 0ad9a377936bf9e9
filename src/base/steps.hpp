#pragma once
// Work in many short steps, each to begin when the one before is done, where to call for threads at every
// step would take longer than the steps. A piece goes to the same thread at every step unless that one is
// late: what it works on stays in the cache of a processor.

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "base/parallel.hpp"

namespace pursuit {

/// Who has taken which pieces of which step. Whoever takes part calls for every step in turn take() until
/// there is nothing left, and then wait(); the others may come late, or never.
class StepBoard {
 public:
  explicit StepBoard(Index most_pieces) : taken_(std::size_t(most_pieces)) {}

  /// Whether the piece of this step, counted from 1, was left for the caller.
  bool take(Index piece, Index step) {
    std::atomic<Index>& last = taken_[std::size_t(piece)].step;
    Index before = last.load(std::memory_order_relaxed);
    return before < step && last.compare_exchange_strong(before, step, std::memory_order_relaxed);
  }

  void finished(Index pieces) {
    if (pieces == 0) return;
    done_.fetch_add(pieces);
    if (sleepers_.load() > 0) done_.notify_all();
  }

  /// Until so many pieces are done, those of all steps before among them.
  void wait(Index pieces);

 private:
  struct alignas(64) Taken {
    std::atomic<Index> step = 0;
  };

  alignas(64) std::atomic<Index> done_ = 0;
  std::vector<Taken> taken_;
  std::atomic<int> sleepers_ = 0;
};

/// Calls work(step, piece) for 0 <= piece < pieces(step) of step 0, when all are done those of step 1, and so
/// on. The first exception is rethrown when all steps are done.
template <class CountPieces, class Work>
void parallel_steps(Index steps, int threads, const CountPieces& pieces, const Work& work) {
  Index most = 0;
  for (Index s = 0; s < steps; ++s) most = std::max<Index>(most, pieces(s));
  threads = int(std::min<Index>(threads, most));
  if (threads <= 1) {
    for (Index s = 0; s < steps; ++s)
      for (Index i = 0; i < pieces(s); ++i) work(s, i);
    return;
  }
  StepBoard board(most);
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto guarded = [&](Index step, Index piece) {
    try {
      work(step, piece);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  parallel_for(threads, threads, [&](Index member) {
    Index all = 0;
    for (Index s = 0; s < steps; ++s) {
      const Index count = pieces(s), own = member * count / threads;
      Index mine = 0;
      for (Index k = 0; k < count; ++k) {
        const Index piece = own + k < count ? own + k : own + k - count;
        if (!board.take(piece, s + 1)) continue;
        guarded(s, piece);
        ++mine;
      }
      board.finished(mine);
      board.wait(all += count);
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace pursuit
