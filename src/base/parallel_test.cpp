#include "base/parallel.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/chunks.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(ParallelFor, CallsEveryPieceOnce) {
  for (const int threads : {1, 2, 4})
    for (const Index count : {0, 1, 5, 1000}) {
      std::vector<int> calls(std::size_t(count), 0);
      parallel_for(count, threads, [&](Index i) { ++calls[std::size_t(i)]; });
      EXPECT_EQ(calls, std::vector<int>(std::size_t(count), 1)) << threads << " threads";
    }
}

TEST(ParallelFor, RethrowsAndStillDoesTheRest) {
  for (const int threads : {2, 4}) {
    std::atomic<int> calls = 0;
    const auto work = [&](Index i) {
      ++calls;
      if (i % 10 == 3) throw std::range_error("piece");
    };
    EXPECT_EQ(message_of<std::range_error>([&] { parallel_for(100, threads, work); }), "piece");
    EXPECT_EQ(calls, 100);
  }
  EXPECT_THROW(parallel_for(3, 1, [](Index) { throw std::range_error("piece"); }), std::range_error);
}

TEST(ParallelFor, WithinItsOwnWorkGoesOnAlone) {
  std::vector<int> calls(50 * 20, 0);
  parallel_for(50, 4, [&](Index i) {
    const auto here = std::this_thread::get_id();
    parallel_for(20, 4, [&](Index j) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      ++calls[std::size_t(i * 20 + j)];
    });
  });
  EXPECT_EQ(calls, std::vector<int>(50 * 20, 1));
}

TEST(ParallelFor, ServesManyCallersAtOnce) {
  constexpr int kCallers = 24;  // more than the pool has places
  std::vector<long> sums(kCallers, 0);
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c)
    callers.emplace_back([&sums, c] {
      for (int round = 0; round < 200; ++round) {
        std::vector<int> calls(7, 0);
        parallel_for(7, 3, [&](Index i) { ++calls[std::size_t(i)]; });
        sums[std::size_t(c)] += std::accumulate(calls.begin(), calls.end(), 0L);
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sums, std::vector<long>(kCallers, 7 * 200));
}

TEST(ParallelFor, FollowsItselfAtOnceAndAfterSleep) {
  for (int round = 0; round < 3000; ++round) {
    std::vector<int> calls(5, 0);
    parallel_for(5, 4, [&](Index i) { ++calls[std::size_t(i)]; });
    ASSERT_EQ(calls, std::vector<int>(5, 1)) << "round " << round;
    if (round % 300 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ParallelFor, ThreadsThatWaitSleep) {
  parallel_for(16, 4, [](Index) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  std::this_thread::sleep_for(
      std::chrono::milliseconds(200));  // OpenBLAS's own, which start with the process, spin
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.03);  // of processor time, 0.9 where three spin
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Exit status of what a forked child does.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int count_pieces(int threads) {
  std::atomic<int> calls = 0;
  parallel_for(100, threads, [&](Index) { ++calls; });
  return calls;
}

TEST(ParallelFor, WorksInAForkedChild) {
  EXPECT_EQ(count_pieces(3), 100);  // the threads that the child will not have
  EXPECT_EQ(status_of_child([] { return count_pieces(3) == 100 ? 0 : 1; }), 0);
}

TEST(ParallelFor, WorksOnFewerThreadsWhereNoMoreCanBeStarted) {
  const int status = status_of_child([] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 34);  // every further thread wants so much
    pthread_setattr_default_np(&attributes);
    const rlimit limit{std::uint64_t{1} << 35, std::uint64_t{1} << 35};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
    return count_pieces(8) == 100 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}
#endif

TEST(Chunks, CoverTheRangeInOrder) {
  for (const Index size : {0, 1, 127, 128, 255, 256, 1000, 100003})
    for (const Index least : {1, 16, 128}) {
      const Chunks chunks(size, least);
      EXPECT_TRUE(std::has_single_bit(std::uint64_t(chunks.count())));
      EXPECT_LE(chunks.count(), 256);
      Index end = 0;
      for (Index c = 0; c < chunks.count(); ++c) {
        EXPECT_EQ(chunks.first(c), end);
        end += chunks.length(c);
        EXPECT_GE(chunks.length(c), chunks.count() > 1 ? least : size);
      }
      EXPECT_EQ(end, size);
    }
}

TEST(ChunkedSum, HasTheSameBitsForAnyNumberOfThreads) {
  std::vector<double> terms(10007);
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = 1.0 / double(i + 1);
  const auto sum = [&](int threads) {
    return chunked_sum<double>(Chunks(Index(terms.size())), threads, [&](Index first, Index length) {
      return std::accumulate(terms.begin() + first, terms.begin() + first + length, 0.0);
    });
  };
  EXPECT_NEAR(sum(1), std::accumulate(terms.begin(), terms.end(), 0.0), 1e-12);
  for (const int threads : {2, 3, 16}) EXPECT_EQ(sum(threads), sum(1));
}

TEST(ResolveThreads, ZeroMeansAllCores) {
  EXPECT_EQ(resolve_threads(0), usable_cores());
  EXPECT_EQ(resolve_threads(1), 1);
}

TEST(ResolveThreads, NegativeNumbersAreRefused) {
  EXPECT_THROW(resolve_threads(-1), InvalidArgument);
}

TEST(ResolveThreads, CoresAreTheMost) {
  EXPECT_EQ(resolve_threads(100000), usable_cores());
  EXPECT_EQ(resolve_threads(std::numeric_limits<int>::max()), usable_cores());
}

}  // namespace
}  // namespace pursuit
