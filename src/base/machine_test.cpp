#include "base/machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/parallel.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(CoresOfQuota, RoundsUpAndKnowsNoQuota) {
  EXPECT_EQ(cores_of_quota("150000 100000\n"), 2);
  EXPECT_EQ(cores_of_quota("100000 100000"), 1);
  EXPECT_EQ(cores_of_quota("5000 100000"), 1);
  EXPECT_EQ(cores_of_quota("max 100000"), std::nullopt);
  EXPECT_EQ(cores_of_quota("-1\n 100000"), std::nullopt);
  EXPECT_EQ(cores_of_quota(""), std::nullopt);
  EXPECT_EQ(cores_of_quota("100000 0"), std::nullopt);
}

TEST(UsableCores, AreNoMoreThanTheProcessMayRunOn) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), CPU_COUNT(&allowed));
}

TEST(AvailableMemory, IsBelowTheLimitOfTheAddressSpace) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take more address space than any limit leaves";
#endif
  EXPECT_GT(available_memory(), 0U);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{std::uint64_t{1} << 40, std::uint64_t{1} << 40};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    _exit(available_memory() < limit.rlim_cur ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

TEST(StartableThreads, AreAllWhereThereIsMemory) {
  EXPECT_EQ(startable_threads(1), 1);
  EXPECT_EQ(startable_threads(5), 5);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ParallelFor, WorksOnFewerThreadsWhereNoMoreCanBeStarted) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] {  // on a thread of its own: a forked child has none of the parent's team
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstacksize(&attributes, std::size_t{1} << 34);  // every further thread wants so much
      pthread_setattr_default_np(&attributes);
      const rlimit limit{std::uint64_t{1} << 35, std::uint64_t{1} << 35};
      if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
      if (startable_threads(8) >= 8) _exit(3);
      std::atomic<int> calls = 0;
      parallel_for(100, 8, [&](Index) { ++calls; });
      _exit(calls == 100 ? 0 : 1);
    })
        .join();
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}
#endif

}  // namespace
}  // namespace pursuit
