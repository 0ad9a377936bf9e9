#include "base/thread_pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>

#include "base/patience.hpp"

namespace pursuit {
namespace {

/// One call of share_pieces. Lies in the pool, not with the caller: a thread that comes too late still looks
/// at it.
class alignas(64) Job {
 public:
  bool claim() { return !taken_.exchange(true); }

  void open(const Pieces& pieces, int others) {
    pieces_ = pieces;
    next_.store(0);
    seats_.store(others);
    visitors_.fetch_add(kOpen);
  }

  bool has_seats() const { return seats_.load() > 0; }

  /// Who has come in must leave; who finds the job closed or no seat free is out again.
  bool enter() {
    if ((visitors_.fetch_add(1) & kOpen) && seats_.fetch_sub(1) > 0) return true;
    leave();
    return false;
  }
  void leave() {
    if (visitors_.fetch_sub(1) == 1) visitors_.notify_one();  // closed, and nobody else is in
  }

  void work() {
    const Pieces pieces = pieces_;
    for (Index i; (i = next_.fetch_add(1)) < pieces.count;) pieces.call(pieces.work, i);
    seats_.store(0);  // nothing is left for those who have not come yet
  }

  /// Returns when all have left.
  void close() {
    visitors_.fetch_sub(kOpen);
    if (!comes_soon([&] { return visitors_.load() == 0; }))
      for (int inside; (inside = visitors_.load()) != 0;) visitors_.wait(inside);
    taken_.store(false);
  }

 private:
  static constexpr int kOpen = 1 << 30;  // added to the number of those who have come in

  std::atomic<bool> taken_ = false;
  Pieces pieces_ = {};
  std::atomic<Index> next_ = 0;
  std::atomic<int> seats_ = 0, visitors_ = 0;
};

thread_local bool is_at_work = false;

class ThreadPool {
 public:
  /// That of this process: a forked child has none of its parent's threads and begins a new one.
  static ThreadPool& instance() {
    static const int forks = ::pthread_atfork(nullptr, nullptr, [] { current = new ThreadPool; });
    (void)forks;
    return *current;
  }

  void share(const Pieces& pieces, int threads) {
    const auto job = std::find_if(jobs_.begin(), jobs_.end(), [](Job& each) { return each.claim(); });
    if (job == jobs_.end()) {  // more callers at once than there are places
      for (Index i = 0; i < pieces.count; ++i) pieces.call(pieces.work, i);
      return;
    }
    job->open(pieces, started(int(std::min<Index>(pieces.count, threads)) - 1));
    news_.fetch_add(1);
    rouse(*job);
    is_at_work = true;
    job->work();
    is_at_work = false;
    job->close();
  }

 private:
  /// How many threads there are beside the caller, `wanted` where the system lets them be started.
  int started(int wanted) {
    const std::lock_guard lock(starting_);
    while (threads_ < std::min(wanted, most_)) {
      if (start_thread())
        ++threads_;
      else
        most_ = threads_;  // asked once: each try would cost as much as a small job
    }
    return std::min(wanted, threads_);
  }

  /// Its signals are left to the threads of the program.
  bool start_thread() {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread = {};
    const auto run = [](void* pool) -> void* { static_cast<ThreadPool*>(pool)->attend(); };
    const bool is_running = ::pthread_create(&thread, nullptr, run, this) == 0;
    if (is_running) ::pthread_detach(thread);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return is_running;
  }

  /// Wakes two; each of them wakes two more, so that many are up in few steps.
  void rouse(const Job& job) {
    for (int k = 0; k < 2 && job.has_seats() && sleepers_.load() > 0; ++k) news_.notify_one();
  }

  [[noreturn]] void attend() {
    is_at_work = true;
    while (true) {
      const int seen = news_.load();
      for (Job& job : jobs_) {
        if (!job.has_seats() || !job.enter()) continue;
        rouse(job);
        job.work();
        job.leave();
      }
      if (comes_soon([&] { return news_.load() != seen; })) continue;
      sleepers_.fetch_add(1);
      news_.wait(seen);
      sleepers_.fetch_sub(1);
    }
  }

  static constexpr int kPlaces = 16;
  static std::atomic<ThreadPool*> current;

  std::array<Job, kPlaces> jobs_;
  alignas(64) std::atomic<int> news_ = 0;
  std::atomic<int> sleepers_ = 0;
  std::mutex starting_;
  int threads_ = 0, most_ = std::numeric_limits<int>::max();
};

std::atomic<ThreadPool*> ThreadPool::current = new ThreadPool;  // never ends: its threads may be asleep in it

}  // namespace

void share_pieces(const Pieces& pieces, int threads) {
  if (threads <= 1 || pieces.count <= 1 || is_at_work) {
    for (Index i = 0; i < pieces.count; ++i) pieces.call(pieces.work, i);
    return;
  }
  ThreadPool::instance().share(pieces, threads);
}

}  // namespace pursuit
