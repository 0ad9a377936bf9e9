#include "base/parallel.hpp"

#include <atomic>
#include <limits>
#include <stdexcept>
#include <vector>

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
